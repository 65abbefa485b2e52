"""The proof recalls g with the whole bias of f, g(x) = W^11 x^1 + b^1; Eq. 12 defined it with b^11.

Place: Appendix A.1, before Eq. 17
Printed: Recall that g(x) = W^11 x^1 + b^1
Nearest: eq17_g_corrected
Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.imlp._theorem import Module, affine, modules_of


def judge(case: Module, arithmetic: Arithmetic) -> Trial:
    """Hold g of Eq. 12 against W^11 x^1 + b^1, with b^1 = b^11 + b^12."""
    first, second = case.halves
    b1 = tuple(a + b for a, b in zip(first.b1, second.b1, strict=True))
    recalled = affine(first.w1, case.activated(0, case.x, arithmetic), b1)
    return equal(case.part(0, case.x, arithmetic), recalled, **{"b^11": first.b1, "b^12": second.b1})


CLAIM = Claim(modules_of(1, 1, 1), judge)
