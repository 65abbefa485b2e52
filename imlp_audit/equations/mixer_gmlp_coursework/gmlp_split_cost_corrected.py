"""With the split unit, U and V take 3/2 D_C S C operations, f takes D_C S^2 / 2 and s takes D_C S / 2.

Place: Sec. 3.1, last paragraph, for the s(Z) of the split
Corrected: 3/2 D_C S C operations in the channel projections, D_C S^2 / 2 in f(.), D_C S / 2 in s(.)
Bound: none: the ledger of a forward pass is exact
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._shapes import Sizes, sizes
from imlp_audit.models.hosts.gmlp import Gate


def judge(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """Hold the ledger of the package's block against the corrected numbers."""
    half = case.d_c // 2
    corrected = {"U and V": 3 * half * case.s * case.c, "f": half * case.s**2, "s": half * case.s}
    found = case.costs(Gate.SPLIT)
    return Trial(corrected == found, {**case.shown(), "corrected": corrected, "found": found})


CLAIM = Claim(sizes(), judge)
