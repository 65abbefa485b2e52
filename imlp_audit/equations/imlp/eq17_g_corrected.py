"""g has the bias b^11 of its own; a difference of two of its values has none.

Place: Appendix A.1, before Eq. 17
Corrected: g(x) = W^11 x^1 + b^11, g(x) - g(y) = W^11 (x^1 - y^1)
Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.imlp._theorem import Module, inner, modules


def judge(case: Module, arithmetic: Arithmetic) -> Trial:
    """Hold the change of g against that of W^11 x^1."""
    w1 = arithmetic.matrix(case.halves[0].w1)
    weighted = [inner(row, case.change_of_activated(0, arithmetic)) for row in w1]
    return equal(case.change_in(0, arithmetic), weighted, **case.shown())


CLAIM = Claim(modules(), judge)
