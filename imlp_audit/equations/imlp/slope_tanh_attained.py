"""The slope of AGeLU with the tanh form of GeLU attains both ends of [p, q], to 1e-9: at
alpha x + gamma = -x* and x*, x* = 1.41850.

Place: Sec. 4.2, after Lemma 1
Printed: It is easy to prove that our proposed AGeLU activation function satisfies the slope-restricted condition
    when the parameters alpha and beta in Eq. 4 are finite
Bound: 1e-9 alpha beta, and 24 u alpha beta: 7.5 u for tanh of a rounded argument, 14 u for 1 less its square, 2.5 u for
    sums and products; the slope's own slope is zero at x*, so that rounding x* moves it by less than u
"""

from __future__ import annotations

import torch
from torch import nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._agelu import Coefficients, coefficients
from imlp_audit.equations.imlp._slope import slopes_of
from imlp_audit.lipschitz import slopes


class TanhGelu(nn.GELU):
    """GeLU in its tanh form."""

    def __init__(self) -> None:
        super().__init__(approximate="tanh")


def judge(case: Coefficients, arithmetic: Arithmetic) -> Trial:
    """Differentiate the module at the two points, and hold the slopes against the ends."""
    alpha, beta, gamma = case.alpha[0], case.beta[0], case.gamma[0]
    at = [(sign * slopes.GELU_TANH_STEEPEST - gamma) / alpha for sign in (-1, 1)]
    agelu = case.module(arithmetic, TanhGelu)
    x = arithmetic.tensor([[value] for value in at]).requires_grad_()
    (found,) = torch.autograd.grad(agelu(x).sum(), x)
    ends = slopes_of(case, slopes.GELU_TANH)
    got = sorted(found.flatten().tolist())
    slack = abs(alpha * beta) * (1e-9 + 24 * arithmetic.unit)
    attained = abs(got[0] - ends.low) <= slack and abs(got[1] - ends.high) <= slack
    return Trial(attained, {**case.shown(), "slopes there": got, "p, q": [ends.low, ends.high]})


CLAIM = Claim(coefficients(1), judge)
