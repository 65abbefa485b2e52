"""Sec. 2 of paper.tex: what is claimed about the activation."""

from __future__ import annotations

from torch.nn.functional import relu

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim, equal
from imlp_audit.equations.strategies import numbers


@claim(numbers())
def relu_loses_nothing(x: float, arithmetic: Arithmetic) -> Trial:
    """ReLU(x) and ReLU(-x) together give the input back.

    Place: Sec. 2, Eq. 1
    Printed: x = ReLU(x) + ReLU(-x)
    Bound: none: one of the two terms is zero
    """
    back = relu(arithmetic.tensor(x)) + relu(arithmetic.tensor(-x))
    return equal(arithmetic.number(x), back, x=x)
