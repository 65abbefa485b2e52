"""APReLU, Eq. 3 with PReLU, is more flexible than RPReLU: each RPReLU is an APReLU, and so is each AReLU.

Neither of AGeLU and RPReLU contains the other: AGeLU's slope is 0 at one end, RPReLU's is 1 at the right one. APReLU
has two slopes to learn.

Place: Sec. 4.1, after Eq. 4, and Eq. 3
Corrected: RPReLU(x; b, gamma, zeta) = beta PReLU(alpha x + c; b) + theta with alpha = beta = 1, c = -gamma,
    theta = zeta; AReLU(x) = APReLU(x) with b = 0
Bound: gamma_3 times the sum of the terms' magnitudes
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from hypothesis import strategies as st
from torch import Tensor, nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions import relu
from imlp_audit.equations.imlp._agelu import Coefficients, coefficients
from imlp_audit.equations.imlp._rprelu import RPReLU, rprelus
from imlp_audit.equations.strategies import numbers


@dataclass(frozen=True)
class Contained:
    """An input, an RPReLU and the coefficients of an AReLU."""

    x: float
    rprelu: RPReLU
    arelu: Coefficients


def judge(case: Contained, arithmetic: Arithmetic) -> Trial:
    """Hold the package's module on PReLU against ReActNet's formula, and against Eq. 3 on ReLU."""
    rprelu, x = case.rprelu, arithmetic.tensor([case.x])
    moved = Coefficients((1.0,), (1.0,), (-rprelu.gamma,), (rprelu.zeta,))
    sides = torch.cat((_aprelu(moved, rprelu.beta, x, arithmetic), _aprelu(case.arelu, 0.0, x, arithmetic)))
    contained = [rprelu.at(case.x, arithmetic), *case.arelu.written([arithmetic.number(case.x)], relu)]
    return equal(sides, contained, x=case.x, RPReLU=rprelu, **case.arelu.shown(" of AReLU"))


def _aprelu(agelu: Coefficients, slope: float, x: Tensor, arithmetic: Arithmetic) -> Tensor:
    module = agelu.module(arithmetic, nn.PReLU)
    with torch.no_grad():
        for weight in module.phi.parameters():
            weight.fill_(slope)
    y: Tensor = module(x)
    return y


CLAIM = Claim(st.builds(Contained, numbers(), rprelus(), coefficients(1)), judge)
