"""Sec. 5.2, Tables 3 and 4: the degree of non-linearity, and sums instead of concatenation."""

import torch
import torch.nn.functional as F
from hypothesis import assume
from torch import Tensor, cat, linalg, nn

from imlp_audit.claims import NONZERO, Sides, claim_about, depends, gradients, modules, parameters, size, tensors
from imlp_audit.models.imlp import AGeLU, ChannelPart
from imlp_audit.models.mixer import Mlp
from imlp_audit.models.readings import PRINTED

from ..sums import SumOfFunctions
from ._amlp import agelu, agelus, along, apart, joined, others, t2
from ._imlp import SMALL

C, half, hidden = size("C", 1, 2), size("C'/2", 1, 2), size("C'")
FEW = (1.0, -1.0, 2.0, -2.0, 0.5, -0.5)  # sums of products of these are exact


def arguments(x: Tensor, Wd: Tensor, f: AGeLU, g: AGeLU) -> tuple[Tensor, Tensor]:
    """Return m'_{1j} and n'_{1j}, by which the C' arguments of GeLU are m'_{1j} x_1 + n'_{1j}."""
    alpha, _, gamma, _ = joined(f, g)
    return alpha * Wd[0].repeat(2), alpha * others(x, Wd)[0].repeat(2) + gamma


def where_bent(m: Tensor, n: Tensor) -> Tensor:
    """Return x_1 about where each GeLU(m x_1 + n) bends, and others."""
    m, n = m.detach(), n.detach()
    bent = [(torch.linspace(-3, 3, 7) - n_j) / m_j for m_j, n_j in zip(m[m != 0], n[m != 0], strict=True)]
    return cat([torch.linspace(-6, 6, 25), *bent])


def degree(units: Tensor) -> int:
    """Return how many of some functions, one a column, are linearly independent: the rank of their values."""
    size = linalg.vector_norm(units, dim=0)
    return int(linalg.matrix_rank(units.detach() / size.detach().where(size != 0, torch.ones(()))))


def with_alphas(*alpha: float) -> AGeLU:
    """Return AGeLUs of several channels that only differ in alpha."""
    f = AGeLU(len(alpha))
    f.alpha.data.copy_(torch.tensor(alpha))
    return f


claim = claim_about(
    x=tensors(C, values=FEW), Wd=tensors(1, 1, values=NONZERO), f=agelus(1), g=agelus(1), C=size("C", 1, 2, 3, 4)
)


@claim(
    Wd=tensors(C, hidden, values=FEW),
    place="Sec. 5.2 on Table 3",
    printed="the two GeLU functions with the same scale and bias cause a simple replication along the channel "
    "dimension",
)
def rank_gelu_concat(x: Tensor, Wd: Tensor) -> Sides:
    """concat(GeLU, GeLU) replicates: the second half of the hidden units is the first, so C' units have the degree
    C'/2.

    Read as: as functions of x_1, at most C'/2 of them are linearly independent, and C'/2 are where no two arguments of
    GeLU are equal or opposite.
    """
    m, n = Wd[0], others(x, Wd)[0]
    assume(apart(m, n))
    places = where_bent(m, n)
    hidden = ChannelPart(len(m), PRINTED, nn.GELU, channels_first=False, plain=True)(along(x, 0, places) @ Wd)
    first, second = hidden.chunk(2, dim=-1)
    printed = F.gelu(places[:, None] * m + n)
    return [torch.equal(first, second), (first, printed), degree(hidden) == len(m)]


def has_degree_of_mlp(x: Tensor, Wd: Tensor, f: AGeLU, g: AGeLU) -> Sides:
    """Return whether the C' hidden units of the AMLP are their formulas in x_1, and linearly independent."""
    (_, beta, _, theta), (m, n) = joined(f, g), arguments(x, Wd, f, g)
    places = where_bent(m, n)
    hidden = t2(along(x, 0, places), Wd, f, g)
    return [(hidden, beta * F.gelu(places[:, None] * m + n) + theta), (degree(hidden), len(m))]


@claim(
    x=tensors(1),
    place="Sec. 5.2 on Table 3",
    printed="the two AGeLU functions do not decrease the degree of non-linearity",
    nearest="rank_agelu_concat_corrected",
    examples=[{"x": torch.ones(1), "Wd": torch.ones(1, 1), "f": agelu(), "g": agelu()}],
)
def rank_agelu_concat(x: Tensor, Wd: Tensor, f: AGeLU, g: AGeLU) -> Sides:
    """concat(AGeLU, AGeLU') keeps the degree of non-linearity C', whatever the coefficients.

    Read as: the C' hidden units are linearly independent as functions of x_1, at every step of training. The smallest
    case is the step that training starts with: both AGeLUs are GeLU then, and come apart only as they are trained.
    """
    return has_degree_of_mlp(x, Wd, f, g)


@claim(
    Wd=tensors(C, half, values=FEW),
    f=agelus(half, values=FEW),
    g=agelus(half, values=FEW),
    place="Sec. 5.2 on Table 3",
    corrected="beta_j GeLU(m'_{cj} x_c + n'_{cj}) + theta_j, j = 1, ..., C', are linearly independent functions of x_c "
    "if beta_j != 0, m'_{cj} != 0 and (m'_{cj}, n'_{cj}) != +-(m'_{ck}, n'_{ck}) for all j != k",
)
def rank_agelu_concat_corrected(x: Tensor, Wd: Tensor, f: AGeLU, g: AGeLU) -> Sides:
    """concat(AGeLU, AGeLU') keeps the degree C' where no two arguments of GeLU are equal or opposite, and none is
    constant.

    A beta of zero makes a unit constant. Otherwise beta and theta make no difference: alpha or gamma have to.
    """
    assume(apart(*arguments(x, Wd, f, g)))
    return has_degree_of_mlp(x, Wd, f, g)


@claim(
    x=tensors(1),
    place="Sec. 4.1, last paragraph",
    printed="the proposed AMLP module (Eq. 6) is also a generator that generates the same degree of non-linearity. "
    "Each element y'_c in y' can also be treated as a linear combination of C' different nonlinear functions",
    nearest="rank_agelu_concat_corrected",
    examples=[{"x": torch.ones(1), "Wd": torch.ones(1, 1), "f": agelu(), "g": agelu(beta=2.0)}],
)
def eq6_same_degree(x: Tensor, Wd: Tensor, f: AGeLU, g: AGeLU) -> Sides:
    """Two AGeLUs with different parameters give each output C' different nonlinear functions: the degree of the MLP.

    Read as: the functions of x_1 that the weights combine in Eq. 6's last line, GeLU(m'_{1j} x_1 + n'_{1j}), are
    linearly independent. Tested where beta' is not beta, so that the parameters are different, as Eq. 5's text has
    them.
    """
    assume((f.beta != g.beta).all())
    return has_degree_of_mlp(x, Wd, f, g)


@claim(
    Wa=tensors(C, hidden, values=FEW),
    f=agelus(hidden, values=FEW),
    examples=[{"x": torch.ones(1), "Wa": torch.tensor([[1.0, 2.0]]), "f": with_alphas(2.0, 1.0)}],  # equal as AGeLUs
    place="Sec. 5.2 on Table 3",
    printed="in the former setting [r = 4 without concatenation] the two activation functions have the same degree of "
    "non-linearity",
)
def rank_agelu_without_concat(x: Tensor, Wa: Tensor, f: AGeLU) -> Sides:
    """Without concatenation, GeLU and AGeLU have the same degree of non-linearity: C' both.

    Read as: where no beta is zero and no two hidden units have equal or opposite arguments of phi, they are linearly
    independent as functions of x_1, with GeLU as with AGeLU.
    """
    m, n = Wa[0], others(x, Wa)[0]
    m_, n_ = f.alpha * m, f.alpha * n + f.gamma
    assume(apart(m, n) and apart(m_, n_))
    places = cat([where_bent(m, n), where_bent(m_, n_)])
    t = along(x, 0, places) @ Wa
    of_agelu = f.beta * F.gelu(places[:, None] * m_ + n_) + f.theta
    return [(f(t), of_agelu), (degree(f(t)), len(m)), (degree(F.gelu(t)), len(m))]


def sum_of(width: int, ratio: int, first: bool) -> SumOfFunctions:
    """Return the package's sum of AGeLUs."""
    return SumOfFunctions(width, ratio, agelu=True, use_conv=first)


width = size("C", 1, 2, 3)
wide = size("C", 1, 3, 192)  # DeiT-Ti's


@claim(
    x=tensors(2, wide, values=SMALL),
    module=modules(sum_of, wide, 1, False, values=SMALL),
    place="Sec. 5.2 on Table 4, row AGeLU",
    printed="y = AGELU_1(x) + ... + AGELU_{4C}(x)",
)
def sums_of_agelus(x: Tensor, module: SumOfFunctions) -> Sides:
    """In the AGeLU row of Table 4, the package's module is the sum of the AGeLUs, channel by channel, in both layouts.

    Read as: every AGeLU has coefficients for each channel. Tested with C functions in place of 4 C.
    """
    C = x.shape[1]
    alpha, beta, gamma, theta = (p.reshape(C, C) for p in map(module.get_parameter, COEFFICIENTS))  # channel, function
    printed = (beta * F.gelu(alpha * x[:, :, None] + gamma) + theta).sum(-1)
    first = sum_of(C, 1, True)
    first.load_state_dict(module.state_dict())
    last, expected = module(x), gradients(printed, module)
    y = first(x[:, :, None, None])[:, :, 0, 0]
    return [(last, printed), (gradients(last, module), expected), (y, printed), (gradients(y, first), expected)]


COEFFICIENTS = [f"agelus.{name}" for name in ("alpha", "beta", "gamma", "theta")]


@claim(
    x=tensors(width),
    module=modules(sum_of, width, 4, False),
    place="Sec. 5.2 on Table 4, row AGeLU",
    printed="according to Corollary 1 the biases of these nonlinear functions should be different and are dependent on "
    "all other input elements which is hard to apply in reality",
)
def sums_bias_of_own_input(x: Tensor, module: SumOfFunctions) -> Sides:
    """In a sum of 4 C AGeLUs, each output depends on the input of its own channel alone.

    Whatever the coefficients: no bias in it can depend on the other inputs, as those of an MLP do by Corollary 1.
    """
    return not (depends(module, x) & ~torch.eye(len(x), dtype=torch.bool)).any()


@claim(
    x=tensors(values=NONZERO),
    place="Sec. 5.2 on Table 4, row GeLU",
    printed="directly using 4C different nonlinear functions to replace the original MLP module [...] Here we use GeLU "
    "and AGeLU as the basic nonlinear functions",
    nearest="sums_of_gelus",
    examples=[{"C": 1, "x": torch.ones(())}],
)
def sums_of_different_functions(C: int, x: Tensor) -> Sides:
    """In the GeLU row of Table 4, the 4 C functions that are added up are different functions.

    Read as: at an input that is not zero, they do not all give the same value. GeLU has no parameters that could
    differ.
    """
    values = {gelu(x).item() for gelu in (nn.GELU() for _ in range(4 * C))}
    return len(values) > 1


@claim(x=tensors(), place="Sec. 5.2 on Table 4, row GeLU", corrected="y = GeLU_1(x) + ... + GeLU_{4C}(x) = 4 C GeLU(x)")
def sums_of_gelus(C: int, x: Tensor) -> Sides:
    """In the GeLU row of Table 4, the sum of the 4 C functions is 4 C GeLU(x): one function, scaled; so is the
    package's module.
    """
    y = torch.stack([nn.GELU()(x) for _ in range(4 * C)]).sum()
    learned = parameters(lambda: SumOfFunctions(C))  # GeLU has none
    return [(y, 4 * C * F.gelu(x)), (SumOfFunctions(C)(x.expand(C)), y.expand(C)), (learned, 0)]


@claim(
    C=size("C", *range(1, 17)),
    place="Sec. 5.2 on Table 4, row AGeLU",
    corrected="parameters of AGeLU_1, ..., AGeLU_{4C} = 4 C * 4 C > 8 C^2 + 5 C, or 4 C * 4",
)
def sums_parameters(C: int) -> Sides:
    """4 C AGeLUs with coefficients for every channel have 16 C^2 parameters, more than the MLP they replace, 8 C^2 + 5
    C.

    With one of each coefficient for the layer, they have 16 C. The paper does not say which; the MLP has biases.
    """
    per_channel = parameters(lambda: nn.ModuleList(AGeLU(C) for _ in range(4 * C)))
    per_layer = parameters(lambda: nn.ModuleList(AGeLU(1) for _ in range(4 * C)))
    mlp = parameters(lambda: Mlp(C, 4 * C))
    return [(per_channel, 16 * C**2), (per_layer, 16 * C), (mlp, 8 * C**2 + 5 * C), per_channel > mlp]
