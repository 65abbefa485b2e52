"""Sec. 4.1, Eq. 3 and 4: arbitrary functions with learned scales and shifts, and AGeLU."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.dependence import jacobian
from imlp_audit.equations.functions import gelu, gelu_slope, prelu, relu, softplus
from imlp_audit.equations.rounded import Rounded
from imlp_audit.equations.strategies import Vector, nonzero, numbers, plain, vectors
from imlp_audit.models.agelu import AGeLU, base_activation
from imlp_audit.models.blocks import Activation

from ._agelu import Coefficients, coefficients
from ._rprelu import RPReLU, rprelus


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


def arbitrary_functions(bases: Iterable[Activation] = Activation) -> st.Strategy[Arbitrary]:
    """Arbitrary functions of one or two channels."""
    return st.integers(1, 2).flatmap(
        lambda channels: st.builds(
            Arbitrary, vectors(channels), st.sampled_from(bases), numbers(), coefficients(channels, nonzero())
        )
    )


@claim(
    arbitrary_functions(),
    proof=Proof(
        "all numbers and any phi", lambda case: {"channel": len(case.x)}, cases=arbitrary_functions([Activation.GELU])
    ),
)
def eq3_arbitrary_function(case: Arbitrary, arithmetic: Arithmetic) -> Trial:
    """The package's AGeLU module is Eq. 3, channel by channel, for every base function: GeLU, ReLU (AReLU), SoftPlus
    (ASoftPlus) and PReLU (APReLU).

    Place: Sec. 4.1, Eq. 3, and "ReLU, PReLU, etc. can be extended using the same way"
    Printed: phi'(x) = beta phi(alpha x + gamma) + theta
    Bound: gamma_2 times the magnitudes under phi, times its largest slope, then gamma_2 times those of the result
    """
    # Hold the module against Eq. 3.
    module = case.coefficients.module(arithmetic, base_activation(case.base))
    with torch.no_grad():
        for slope in module.phi.parameters():  # PReLU alone has one
            slope.fill_(case.slope)
    printed = case.coefficients.written(arithmetic.vector(case.x), case.phi)
    shown = {"x": case.x, "phi": case.base.value, "slope of PReLU": case.slope, **case.coefficients.shown()}
    return equal(module(arithmetic.tensor(case.x)), printed, **shown)


@dataclass(frozen=True)
class OneAgelu:
    """An input of one number a channel, and coefficients."""

    x: Vector
    coefficients: Coefficients
    channels_first: bool

    def sizes(self) -> Mapping[str, int]:
        """Return the sizes by the paper's symbols."""
        return {"channel": len(self.x)}


def agelus(layouts: st.Strategy[bool] | None = None) -> st.Strategy[OneAgelu]:
    """AGeLUs of one or two channels."""
    first = st.booleans() if layouts is None else layouts
    return st.integers(1, 2).flatmap(
        lambda channels: st.builds(OneAgelu, vectors(channels), coefficients(channels), first)
    )


_PROOF = Proof("all numbers and any phi", OneAgelu.sizes, cases=agelus(st.just(False)))


@claim(
    agelus(),
    proof=Proof(
        "all numbers and any phi",
        lambda case: {**case.sizes(), "layout": "channels first" if case.channels_first else "channels last"},
    ),
)
def eq4_agelu(case: OneAgelu, arithmetic: Arithmetic) -> Trial:
    """The package's AGeLU module is Eq. 4, channel by channel, in both layouts: channels last and channels first.

    Place: Sec. 4.1, Eq. 4
    Printed: AGeLU(x) = beta GeLU(alpha x + gamma) + theta
    Bound: gamma_2 times the magnitudes under GeLU, times its largest slope, then gamma_2 times those of the result
    """
    # Hold the module against Eq. 4.
    agelu = case.coefficients.load_into(AGeLU(len(case.x), channels_first=case.channels_first), arithmetic)
    shape = (1, -1, 1, 1) if case.channels_first else (1, 1, 1, -1)
    ours = agelu(arithmetic.tensor(case.x).view(shape)).flatten()
    printed = case.coefficients.written(arithmetic.vector(case.x), gelu)
    return equal(ours, printed, x=case.x, **case.coefficients.shown(), **{"channels first": case.channels_first})


@claim(agelus(), proof=_PROOF)
def agelu_alpha_mirrors(case: OneAgelu, arithmetic: Arithmetic) -> Trial:
    """Changing the sign of alpha switches AGeLU's shape: it is mirrored, left for right.

    Place: Sec. 4.1, after Eq. 4: "switch the whole shape by using different positive and negative coefficients"
    Printed: AGeLU(x; -alpha, beta, gamma, theta) = AGeLU(-x; alpha, beta, gamma, theta)
    Bound: gamma_2 times the magnitudes under GeLU, times its largest slope, then gamma_2 times those of the result
    """
    # Hold the module of -alpha against Eq. 4 of -x.
    switched = replace(case.coefficients, alpha=tuple(-alpha for alpha in case.coefficients.alpha))
    mirrored = case.coefficients.written([-number for number in arithmetic.vector(case.x)], gelu)
    ours = switched.module(arithmetic)(arithmetic.tensor(case.x))
    return equal(ours, mirrored, x=case.x, **case.coefficients.shown())


@claim(agelus(), proof=_PROOF)
def agelu_beta_reflects(case: OneAgelu, arithmetic: Arithmetic) -> Trial:
    """Changing the sign of beta switches AGeLU's shape: it is turned upside down about the height theta.

    Place: Sec. 4.1, after Eq. 4: "switch the whole shape by using different positive and negative coefficients"
    Printed: AGeLU(x; alpha, -beta, gamma, theta) - theta = -(AGeLU(x; alpha, beta, gamma, theta) - theta)
    Bound: gamma_2 times the magnitudes under GeLU, times its largest slope, then gamma_4 times those of the result
    """
    # Hold the module of -beta against Eq. 4 reflected.
    switched = replace(case.coefficients, beta=tuple(-beta for beta in case.coefficients.beta))
    upright = case.coefficients.written(arithmetic.vector(case.x), gelu)
    theta = case.coefficients.theta
    reflected = [-(value - theta[c]) + theta[c] for c, value in enumerate(upright)]
    ours = switched.module(arithmetic)(arithmetic.tensor(case.x))
    return equal(ours, reflected, x=case.x, **case.coefficients.shown())


FAR = 256.0  # |alpha FAR + gamma| >= 256 / 4 - 3 > 40


@claim(plain(coefficients(1)))  # 40 is far out
def agelu_learnable_slope(case: Coefficients, arithmetic: Arithmetic) -> Trial:
    """AGeLU's slope is learnable at one end, alpha beta, and 0 at the other; alpha's sign says which end is which.

    Read as: the slopes that AGeLU tends to for x to plus and minus infinity.

    Place: Sec. 4.1, after Eq. 4
    Printed: AGeLU can also provide a learnable slope of the function
    Bound: gamma_2 of the slope, whose own evaluation errs by 12 u; from 40 on, GeLU's slope is within 1e-300 of 1 or 0
    """
    # Hold the module's derivatives far out against alpha beta and 0.
    slope = arithmetic.number(case.alpha[0]) * case.beta[0]
    right = slope * gelu_slope(arithmetic.number(FAR if case.alpha[0] > 0 else -FAR))
    left = slope * gelu_slope(arithmetic.number(-FAR if case.alpha[0] > 0 else FAR))
    return equal(arithmetic.tensor(_ends(case, arithmetic)), [left, right], **case.shown())


def _ends(case: Coefficients, arithmetic: Arithmetic) -> list[float]:
    """Return the module's derivatives far to the left and far to the right."""
    agelu = case.module(arithmetic)
    return [jacobian(agelu, arithmetic.tensor([x])).item() for x in (-FAR, FAR)]


_SLOPES = st.sampled_from((0.25, 0.5, 2.0))  # PReLU's where training starts, and others


@claim(st.builds(RPReLU, _SLOPES, numbers(), numbers()))
def agelu_more_flexible(case: RPReLU, arithmetic: Arithmetic) -> Trial:
    """AGeLU is more flexible than RPReLU.

    Read as: what RPReLU can do AGeLU can, so that there is an AGeLU of the slopes of every RPReLU at both ends. AGeLU
    has alpha beta at one end and 0 at the other (agelu_learnable_slope); RPReLU has beta and 1. The AGeLUs that are
    tried have one of RPReLU's slopes at its end.

    In the sense of the sentence after it, a slope to learn and a shape to switch, it holds (agelu_learnable_slope,
    agelu_alpha_mirrors, agelu_beta_reflects).

    Place: Sec. 4.1, after Eq. 4
    Printed: AGeLU is more flexible than other modified nonlinear functions such as the RPReLU function
    Nearest: agelu_more_flexible_corrected
    Bound: none: from 40 on, GeLU's slope is 1 or 0 exactly
    """
    # Differentiate AGeLUs far out, and look for one of RPReLU's slopes.
    left, right = case.slopes()
    tried = [Coefficients((alpha,), (beta,), (0.0,), (0.0,)) for alpha, beta in ((1.0, right), (-1.0, -left))]
    ends = [_ends(agelu, arithmetic) for agelu in tried]
    shown = {"beta": case.beta, "gamma": case.gamma, "zeta": case.zeta, "slopes of RPReLU": [left, right]}
    return Trial([left, right] in ends, {**shown, "of AGeLUs with one of them": ends})


@dataclass(frozen=True)
class Contained:
    """An input, an RPReLU and the coefficients of an AReLU."""

    x: float
    rprelu: RPReLU
    arelu: Coefficients


@claim(st.builds(Contained, numbers(), rprelus(), coefficients(1)))
def agelu_more_flexible_corrected(case: Contained, arithmetic: Arithmetic) -> Trial:
    """APReLU, Eq. 3 with PReLU, is more flexible than RPReLU: each RPReLU is an APReLU, and so is each AReLU.

    Neither of AGeLU and RPReLU contains the other: AGeLU's slope is 0 at one end, RPReLU's is 1 at the right one.
    APReLU has two slopes to learn.

    Place: Sec. 4.1, after Eq. 4, and Eq. 3
    Corrected: RPReLU(x; b, gamma, zeta) = beta PReLU(alpha x + c; b) + theta with alpha = beta = 1, c = -gamma, theta =
        zeta; AReLU(x) = APReLU(x) with b = 0
    Bound: gamma_3 times the sum of the terms' magnitudes
    """
    # Hold the package's module on PReLU against ReActNet's formula, and against Eq. 3 on ReLU.
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


@claim(st.tuples(numbers(), rprelus()))
def agelu_rprelu_turning_point(case: tuple[float, RPReLU], arithmetic: Arithmetic) -> Trial:
    """RPReLU is PReLU moved: its turning point is at (gamma, zeta) instead of (0, 0), its slopes are PReLU's.

    Place: Sec. 4.1, after Eq. 4
    Printed: The latter [RPReLU] can only adjust the position of the turning point compared to PReLU
    Bound: gamma_3 times the sum of the terms' magnitudes
    """
    # Hold PReLU of x - gamma, plus zeta, against ReActNet's formula.
    x, rprelu = case
    moved = F.prelu(arithmetic.tensor([x - rprelu.gamma]), arithmetic.tensor([rprelu.beta])) + rprelu.zeta
    return equal(moved, [rprelu.at(x, arithmetic)], x=x, beta=rprelu.beta, gamma=rprelu.gamma, zeta=rprelu.zeta)


@claim(vectors(1, numbers()), proof=Proof("all numbers and any phi", lambda x: {"channel": len(x)}))
def agelu_starts_as_gelu(x: Vector, arithmetic: Arithmetic) -> Trial:
    """AGeLU extends GeLU: with its initial coefficients it is GeLU.

    Place: Sec. 4.1, Eq. 4
    Printed: AGeLU(x) = beta GeLU(alpha x + gamma) + theta = GeLU(x) for alpha = beta = 1, gamma = theta = 0
    Bound: 6 u |x| for evaluating GeLU; the coefficients add no rounding
    """
    # Hold a module that no one has changed against GeLU.
    agelu = arithmetic.place(AGeLU(len(x)))
    return equal(agelu(arithmetic.tensor(x)), [gelu(number) for number in arithmetic.vector(x)], x=x)
