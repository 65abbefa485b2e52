"""Sec. 4.1, Eq. 3 and 4: arbitrary functions with learned scales and shifts, and AGeLU."""

from copy import deepcopy
from operator import itemgetter

import torch
import torch.nn.functional as F
from torch import Tensor, nn, stack, tensor

from imlp_audit.claims import NONZERO, Sides, choice, claim_about, jacobian, modules, size, tensors
from imlp_audit.models.blocks import Activation
from imlp_audit.models.imlp import BASE_ACTIVATIONS, AGeLU

from ._amlp import PHIS, agelu, agelus, leaves, with_gradients

C = size("channels", 1, 2)
BASE = choice("phi", *Activation)
SIZES = choice("H, W, channels", (1, 2, 1), (2, 1, 2), (14, 14, 384))  # DeiT-Ti's grid and hidden width
HEIGHT, WIDTH, CHANNELS = (SIZES.map(itemgetter(i)) for i in range(3))
FIRST = choice("channels first", False, True)
TRAINING = choice("training", False, True)
claim = claim_about(x=tensors(C), f=agelus(C), b=tensors(values=NONZERO), gamma=tensors(), zeta=tensors())


@claim(
    base=BASE,
    f=modules(lambda base, channels: AGeLU(channels, BASE_ACTIVATIONS[base]), BASE, C),
    place='Sec. 4.1, Eq. 3, and "ReLU, PReLU, etc. can be extended using the same way"',
    printed="phi'(x) = beta phi(alpha x + gamma) + theta",
)
def eq3_arbitrary_function(x: Tensor, base: Activation, f: AGeLU) -> Sides:
    """The package's AGeLU module is Eq. 3, channel by channel, for every base function: GeLU, ReLU (AReLU), SoftPlus
    (ASoftPlus) and PReLU (APReLU).
    """
    u = f.alpha * x + f.gamma
    phi = F.prelu(u, f.get_parameter("phi.weight")) if base is Activation.PRELU else PHIS[base]()(u)
    return f(x), f.beta * phi + f.theta


@claim(
    x=tensors(2, HEIGHT, WIDTH, CHANNELS),
    f=modules(lambda c, first: AGeLU(c, channels_first=first), CHANNELS, FIRST, training=TRAINING),
    channels_first=FIRST,
    G=tensors(2, HEIGHT, WIDTH, CHANNELS),
    place="Sec. 4.1, Eq. 4",
    printed="AGeLU(x) = beta GeLU(alpha x + gamma) + theta",
)
def eq4_agelu(x: Tensor, f: AGeLU, channels_first: bool, G: Tensor) -> Sides:
    """The package's AGeLU module is Eq. 4, channel by channel, in both layouts: channels last and channels first."""
    (x,) = leaves(x)
    ours = f(x.movedim(-1, 1)).movedim(1, -1) if channels_first else f(x)
    printed = f.beta * F.gelu(f.alpha * x + f.gamma) + f.theta
    return with_gradients(ours, printed, G, x, *f.parameters())


@claim(
    place='Sec. 4.1, after Eq. 4: "switch the whole shape by using different positive and negative coefficients"',
    printed="AGeLU(x; -alpha, beta, gamma, theta) = AGeLU(-x; alpha, beta, gamma, theta)",
)
def agelu_alpha_mirrors(x: Tensor, f: AGeLU) -> Sides:
    """Changing the sign of alpha switches AGeLU's shape: it is mirrored, left for right."""
    switched = deepcopy(f)
    switched.alpha.data.neg_()
    return switched(x), f(-x)


@claim(
    place='Sec. 4.1, after Eq. 4: "switch the whole shape by using different positive and negative coefficients"',
    printed="AGeLU(x; alpha, -beta, gamma, theta) - theta = -(AGeLU(x; alpha, beta, gamma, theta) - theta)",
)
def agelu_beta_reflects(x: Tensor, f: AGeLU) -> Sides:
    """Changing the sign of beta switches AGeLU's shape: it is turned upside down about the height theta."""
    switched = deepcopy(f)
    switched.beta.data.neg_()
    return switched(x) - f.theta, -(f(x) - f.theta)


def ends(f: AGeLU) -> tuple[Tensor, Tensor]:
    """Return the slopes of an AGeLU of one channel that it tends to for x to minus and plus infinity."""
    left, right = (jacobian(f, tensor([x])).reshape(()) for x in (-1e6, 1e6))  # GeLU's slope is 0 or 1 here
    return left, right


@claim(f=agelus(1), place="Sec. 4.1, after Eq. 4", printed="AGeLU can also provide a learnable slope of the function")
def agelu_learnable_slope(f: AGeLU) -> Sides:
    """AGeLU's slope is learnable at one end, alpha beta, and 0 at the other; alpha's sign says which end is which.

    Read as: the slopes that AGeLU tends to for x to plus and minus infinity.
    """
    slope = (f.alpha * f.beta)[0]
    zero = torch.zeros_like(slope)
    return stack(ends(f)), stack([zero, slope] if f.alpha > 0 else [slope, zero])


def rprelu(x: Tensor, b: Tensor, gamma: Tensor, zeta: Tensor) -> Tensor:
    """ReActNet's RPReLU (Liu et al., 2020), whose slope left of the turning point is its beta, here b."""
    return torch.where(x > gamma, x - gamma + zeta, b * (x - gamma) + zeta)


@claim(
    b=tensors(values=(0.25, 0.5, 2.0)),  # PReLU's where training starts, and others
    place="Sec. 4.1, after Eq. 4",
    printed="AGeLU is more flexible than other modified nonlinear functions such as the RPReLU function",
    nearest="agelu_more_flexible_corrected",
    examples=[{"b": tensor(0.25), "gamma": tensor(0.0), "zeta": tensor(0.0)}],
)
def agelu_more_flexible(b: Tensor, gamma: Tensor, zeta: Tensor) -> Sides:
    """AGeLU is more flexible than RPReLU.

    Read as: what RPReLU can do AGeLU can, so that there is an AGeLU of the slopes of every RPReLU at both ends. AGeLU
    has alpha beta at one end and 0 at the other (agelu_learnable_slope); RPReLU has beta and 1. The AGeLUs that are
    tried have one of RPReLU's slopes at its end.

    In the sense of the sentence after it, a slope to learn and a shape to switch, it holds (agelu_learnable_slope,
    agelu_alpha_mirrors, agelu_beta_reflects).
    """
    left, right = (jacobian(lambda x: rprelu(x, b, gamma, zeta), gamma + step) for step in (-1, 1))
    tried = agelu(1.0, right.item()), agelu(-1.0, -left.item())
    return any(ends(each) == (left, right) for each in tried)


def aprelu(b: Tensor, alpha: float, beta: float, gamma: float, theta: float) -> AGeLU:
    """Return Eq. 3 with PReLU of slope b."""
    module = agelu(alpha, beta, gamma, theta, nn.PReLU)
    module.get_parameter("phi.weight").data.fill_(b)
    return module


@claim(
    x=tensors(),
    f=agelus(1),
    place="Sec. 4.1, after Eq. 4, and Eq. 3",
    corrected="RPReLU(x; b, gamma, zeta) = beta PReLU(alpha x + c; b) + theta with alpha = beta = 1, c = -gamma, "
    "theta = zeta; AReLU(x) = APReLU(x) with b = 0",
)
def agelu_more_flexible_corrected(x: Tensor, b: Tensor, gamma: Tensor, zeta: Tensor, f: AGeLU) -> Sides:
    """APReLU, Eq. 3 with PReLU, is more flexible than RPReLU: each RPReLU is an APReLU, and so is each AReLU.

    Neither of AGeLU and RPReLU contains the other: AGeLU's slope is 0 at one end, RPReLU's is 1 at the right one.
    APReLU has two slopes to learn.
    """
    moved = aprelu(b, 1.0, 1.0, -gamma.item(), zeta.item())
    of_zero = aprelu(0 * b, f.alpha.item(), f.beta.item(), f.gamma.item(), f.theta.item())
    arelu = f.beta * F.relu(f.alpha * x + f.gamma) + f.theta
    return [(moved(x[None]), rprelu(x, b, gamma, zeta)[None]), (of_zero(x[None]), arelu)]


@claim(
    x=tensors(),
    place="Sec. 4.1, after Eq. 4",
    printed="The latter [RPReLU] can only adjust the position of the turning point compared to PReLU",
)
def agelu_rprelu_turning_point(x: Tensor, b: Tensor, gamma: Tensor, zeta: Tensor) -> Sides:
    """RPReLU is PReLU moved: its turning point is at (gamma, zeta) instead of (0, 0), its slopes are PReLU's."""
    return F.prelu(x - gamma, b) + zeta, rprelu(x, b, gamma, zeta)


@claim(
    base=BASE,
    place="Sec. 4.1, Eq. 4",
    printed="AGeLU(x) = beta GeLU(alpha x + gamma) + theta = GeLU(x) for alpha = beta = 1, gamma = theta = 0",
)
def agelu_starts_as_gelu(x: Tensor, base: Activation) -> Sides:
    """AGeLU extends GeLU: with its initial coefficients it is GeLU.

    Read as: with the other base functions Eq. 3 starts as these; PReLU's slope starts with 1/4.
    """
    return [(AGeLU(len(x))(x), F.gelu(x)), (AGeLU(len(x), BASE_ACTIVATIONS[base])(x), PHIS[base]()(x))]
