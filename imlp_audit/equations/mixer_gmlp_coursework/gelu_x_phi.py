"""GELU(x) is x times the distribution function of the standard normal.

Place: Sec. 2.1, definition of GELU, first equality
Printed: GELU(x) = x Phi(x)
Bound: that of functions.gelu: 6 u |x|
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.strategies import numbers
from imlp_audit.models.mixer import Mlp


def judge(case: float, arithmetic: Arithmetic) -> Trial:
    """Hold the module's activation against x Phi(x)."""
    activation = Mlp(width=1, hidden=1).act
    return equal(activation(arithmetic.tensor(case)), gelu(arithmetic.number(case)), x=case)


CLAIM = Claim(numbers(), judge)
