"""AGeLU extends GeLU: with the coefficients it is initialised with it is GeLU.

Place: Sec. 4.1, Eq. 4
Printed: AGeLU(x) = beta GeLU(alpha x + gamma) + theta = GeLU(x) for alpha = beta = 1, gamma = theta = 0
Bound: 6 u |x| for evaluating GeLU; the coefficients add no rounding
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.strategies import Vector, numbers, vectors
from imlp_audit.models.agelu import AGeLU


def judge(x: Vector, arithmetic: Arithmetic) -> Trial:
    """Hold a module that no one has changed against GeLU."""
    agelu = arithmetic.place(AGeLU(len(x)))
    return equal(agelu(arithmetic.tensor(x)), [gelu(number) for number in arithmetic.vector(x)], x=x)


CLAIM = Claim(vectors(1, numbers()), judge)
