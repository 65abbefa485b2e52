"""The package's AGeLU module is Eq. 3, channel by channel, for every base function: GeLU, ReLU (AReLU), SoftPlus
(ASoftPlus) and PReLU (APReLU).

Place: Sec. 4.1, Eq. 3, and "ReLU, PReLU, etc. can be extended using the same way"
Printed: phi'(x) = beta phi(alpha x + gamma) + theta
Bound: gamma_2 times the magnitudes under phi, times its largest slope, then gamma_2 times those of the result
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions import gelu, prelu, relu, softplus
from imlp_audit.equations.imlp._agelu import Coefficients, coefficients
from imlp_audit.equations.rounded import Rounded
from imlp_audit.equations.strategies import Vector, nonzero, numbers, vectors
from imlp_audit.models.agelu import base_activation
from imlp_audit.models.recipe import Activation


@dataclass(frozen=True)
class Arbitrary:
    """An input of one number a channel, a base function (with PReLU's slope) and coefficients."""

    x: Vector
    base: Activation
    slope: float
    coefficients: Coefficients

    def phi(self, x: Rounded) -> Rounded:
        """Apply the base function."""
        match self.base:
            case Activation.GELU:
                return gelu(x)
            case Activation.RELU:
                return relu(x)
            case Activation.SOFTPLUS:
                return softplus(x)
            case Activation.PRELU:
                return prelu(x, self.slope)


def arbitrary_functions() -> st.SearchStrategy[Arbitrary]:
    """Arbitrary functions of one or two channels."""
    return st.integers(1, 2).flatmap(
        lambda channels: st.builds(
            Arbitrary, vectors(channels), st.sampled_from(Activation), numbers(), coefficients(channels, nonzero())
        )
    )


def judge(case: Arbitrary, arithmetic: Arithmetic) -> Trial:
    """Hold the module against Eq. 3."""
    module = case.coefficients.module(arithmetic, base_activation(case.base))
    with torch.no_grad():
        for slope in module.phi.parameters():  # PReLU alone has one
            slope.fill_(case.slope)
    printed = case.coefficients.written(arithmetic.vector(case.x), case.phi)
    shown = {"x": case.x, "phi": case.base.value, "slope of PReLU": case.slope, **case.coefficients.shown()}
    return equal(module(arithmetic.tensor(case.x)), printed, **shown)


CLAIM = Claim(arbitrary_functions(), judge)
