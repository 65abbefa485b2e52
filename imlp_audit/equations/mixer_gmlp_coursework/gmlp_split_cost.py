"""In every gMLP block, also one with the split unit, U and V take 2 D_C S C operations, f takes D_C S^2, s takes D_C S.

Read as: of the split unit, which the text introduces before it counts and uses from Table 8 on; counted as in
gmlp_cost.

Place: Sec. 3.1, last paragraph
Printed: Посмотрим на вычислительную сложность каждого блока gMLP. Два слоя, выполняющие проекции по каналам, [...]
    имеют в общей сложности 2 D_C S C операций. [...] получается D_C S^2 операций в функции f(.) и D_C S в s(.).
Nearest: gmlp_split_cost_corrected
Bound: none: the ledger of a forward pass is exact
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._shapes import Sizes, printed_costs, sizes
from imlp_audit.models.hosts.gmlp import Gate


def judge(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """Hold the ledger of the package's block against the printed numbers."""
    printed, found = printed_costs(case), case.costs(Gate.SPLIT)
    return Trial(printed == found, {**case.shown(), "printed": printed, "found": found})


CLAIM = Claim(sizes(), judge)
