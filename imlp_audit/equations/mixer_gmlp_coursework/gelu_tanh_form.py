"""x Phi(x) equals 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).

Place: Sec. 2.1, definition of GELU, second equality
Printed: x Phi(x) = 0.5 x (1 + tanh[sqrt(2/pi) (x + 0.044715 x^3)])
Nearest: gelu_tanh_form_corrected
Bound: those of functions.gelu and functions.gelu_tanh: 14 u |x|
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions import gelu, gelu_tanh
from imlp_audit.equations.strategies import numbers


def judge(case: float, arithmetic: Arithmetic) -> Trial:
    """Hold one form against the other."""
    x = arithmetic.number(case)
    return equal(gelu(x), gelu_tanh(x), x=case)


CLAIM = Claim(numbers(), judge)
