"""The two channel projections of a gMLP block take 2 D_C S C operations, f takes D_C S^2 and s takes D_C S.

Read as: multiply-accumulates of the matrix products, and products of elements in s(Z) = Z * f(Z); one sequence; norms,
biases, GELU and the skip left out.

Place: Sec. 3.1, last paragraph
Printed: Два слоя, выполняющие проекции по каналам, [...] имеют в общей сложности 2 D_C S C операций. [...] получается
    D_C S^2 операций в функции f(.) и D_C S в s(.).
Bound: none: the ledger of a forward pass is exact
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._shapes import Sizes, printed_costs, sizes
from imlp_audit.models.hosts.gmlp import Gate


def judge(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """Hold the ledger of the package's block against the printed numbers."""
    printed, found = printed_costs(case), case.costs(Gate.PRODUCT)
    return Trial(printed == found, {**case.shown(), "printed": printed, "found": found})


CLAIM = Claim(sizes((1, 2, 3)), judge)
