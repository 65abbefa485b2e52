"""AGeLU's slope is learnable at one end, alpha beta, and 0 at the other; alpha's sign says which end is which.

Read as: the slopes that AGeLU tends to for x to plus and minus infinity.

Place: Sec. 4.1, after Eq. 4
Printed: AGeLU can also provide a learnable slope of the function
Bound: gamma_2 of the slope, whose own evaluation errs by 12 u; from 40 on, GeLU's slope is
    within 1e-300 of 1 or 0
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.dependence import jacobian
from imlp_audit.equations.functions import gelu_slope
from imlp_audit.equations.imlp._agelu import Coefficients, coefficients

FAR = 256.0  # |alpha FAR + gamma| >= 256 / 4 - 3 > 40


def judge(case: Coefficients, arithmetic: Arithmetic) -> Trial:
    """Hold the module's derivatives far out against alpha beta and 0."""
    agelu = case.module(arithmetic)
    slope = arithmetic.number(case.alpha[0]) * case.beta[0]
    right = slope * gelu_slope(arithmetic.number(FAR if case.alpha[0] > 0 else -FAR))
    left = slope * gelu_slope(arithmetic.number(-FAR if case.alpha[0] > 0 else FAR))
    ends = [jacobian(agelu, arithmetic.tensor([x])).item() for x in (-FAR, FAR)]
    return equal(arithmetic.tensor(ends), [left, right], **case.shown())


CLAIM = Claim(coefficients(1), judge)
