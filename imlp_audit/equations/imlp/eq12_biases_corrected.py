"""f is the sum of both branches exactly when b^1 is the sum of their biases; the columns of W^1 are split between them.

Place: Appendix A.1, Eq. 12
Corrected: f(x) = (W^11 phi_1(W^0 x + b^0) + b^11) + (W^12 phi_2(W^0 x + b^0) + b^12), W^1 = [W^11 W^12],
    b^1 = b^11 + b^12
Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.imlp._theorem import Module, affine, modules


def judge(case: Module, arithmetic: Arithmetic) -> Trial:
    """Hold Eq. 11 against g + h."""
    first, second = case.halves
    concat = [*case.activated(0, case.x, arithmetic), *case.activated(1, case.x, arithmetic)]
    w1 = [a + b for a, b in zip(first.w1, second.w1, strict=True)]
    b1 = tuple(a + b for a, b in zip(first.b1, second.b1, strict=True))
    branches = [case.part(i, case.x, arithmetic) for i in (0, 1)]
    return equal(affine(w1, concat, b1), [g + h for g, h in zip(*branches, strict=True)], **case.shown())


CLAIM = Claim(modules(), judge)
