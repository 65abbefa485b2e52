"""Sec. 3 to 5, Fig. 2: with phi = ReLU, how many kinks an output has against one input element.

Inputs and weights are powers of 2, and not zero: places and slopes are exact, and no kink is missing because a unit is
off.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from hypothesis import assume
from torch import Tensor, cat, einsum, nn, tensor

from imlp_audit.claims import Sides, below, choice, claim_about, jacobian, size, tensors
from imlp_audit.models.imlp import AGeLU

from ._amlp import agelu, agelus, along, amlp, joined, mlp, others

FEW = (1.0, -1.0, 2.0, -2.0)
C, H, HALF = size("C", 1, 2), size("C'"), size("C'/2", 1, 2)
Module = Callable[[Tensor], Tensor]


def relu_mlp(x: Tensor, Wa: Tensor, Wb: Tensor) -> Tensor:
    """Return the MLP with phi = ReLU."""
    return mlp(x, Wa, Wb, nn.ReLU())


def edges(places: Tensor) -> Tensor:
    """Return the different places in order, and one beyond each end."""
    ordered: Tensor = torch.unique(places)
    return cat([ordered[:1] - 64, ordered, ordered[-1:] + 64])


def jumps(module: Module, x: Tensor, c: int, places: Tensor) -> Tensor:
    """Return by how much the slope of y_c against x_c changes at each of the different places, in order."""
    between = edges(places).unfold(0, 2, 1).mean(dim=1)
    slopes = jacobian(lambda x_c: module(along(x, c, x_c))[:, c].sum(), between)
    return slopes.diff()


def kinks_of(module: Module, x: Tensor, m: Tensor, n: Tensor) -> list[int]:
    """Return the number of kinks of y_c against x_c, for each c; they are where some m_{cj} x_c + n_{cj} = 0."""
    return [int((jumps(module, x, c, -n[c] / m[c]) != 0).sum()) for c in range(len(x))]


def jumps_and_sums(module: Module, x: Tensor, m: Tensor, n: Tensor, w: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Return the jumps of y_c's slope, and sum_{j: -n_{cj} / m_{cj} = t} w_{jc} |m_{cj}| at the same t, for each c."""
    sides = []
    for c in range(len(x)):
        places = -n[c] / m[c]
        at = edges(places)[1:-1, None] == places
        sides.append((jumps(module, x, c, places), (at * w[:, c] * m[c].abs()).sum(dim=1)))
    return sides


claim = claim_about(x=tensors(2, values=FEW), Wa=tensors(2, H, values=FEW), Wb=tensors(H, 2, values=FEW))


@claim(place="Sec. 3, Fig. 2", printed="We use phi = ReLU in this figure for simplicity")
def fig2_piecewise_linear(x: Tensor, Wa: Tensor, Wb: Tensor) -> Sides:
    """With phi = ReLU each output of the MLP, against x_c, is a chain of lines with kinks at -n_{cj} / m_{cj} at
    most.
    """
    n, sides = others(x, Wa), []
    for c in range(2):
        left, right = edges(-n[c] / Wa[c]).unfold(0, 2, 1).T  # from each place to the next
        parts = (left + part * (right - left) for part in (0.0, 0.25, 0.5, 0.75, 1.0))
        first, *inner, last = (relu_mlp(along(x, c, places), Wa, Wb)[:, c] for places in parts)
        sides += [(y, first + part * (last - first)) for part, y in zip((0.25, 0.5, 0.75), inner, strict=True)]
    return sides


@claim(
    Wa=tensors(2, 2, values=FEW),
    Wb=tensors(2, 2, values=FEW),
    place="Sec. 3, after Corollary 1",
    printed="a non-linearity generator with a nonlinear degree of C', as intuitively shown in Fig. 2",
    nearest="fig2_mlp_kinks_corrected",
    examples=[{"x": tensor([1.0, 1.0]), "Wa": tensor([[1.0, 2.0], [1.0, 2.0]]), "Wb": tensor([[1.0, 1.0]] * 2)}],
)
def fig2_mlp_kinks(x: Tensor, Wa: Tensor, Wb: Tensor) -> Sides:
    """With phi = ReLU each output of the MLP, against x_c, has C' kinks: its nonlinear degree.

    Tested where the hidden units' weights differ, and none is zero, nor is an input.
    """
    assume((Wa[:, 0] != Wa[:, 1]).any())
    return [(kinks, 2) for kinks in kinks_of(lambda x: relu_mlp(x, Wa, Wb), x, Wa, others(x, Wa))]


@claim(
    place="Sec. 3, after Corollary 1",
    corrected="y_c has a kink at x_c = t if and only if sum_{j: -n_{cj} / m_{cj} = t} w^b_{jc} |m_{cj}| != 0; at most "
    "C'",
)
def fig2_mlp_kinks_corrected(x: Tensor, Wa: Tensor, Wb: Tensor) -> Sides:
    """With phi = ReLU each output of the MLP, against x_c, has at most C' kinks: one wherever jumps do not cancel.

    So it has C' kinks where the -n_{cj} / m_{cj} are different and no weight is zero.
    """
    n = others(x, Wa)
    sides = jumps_and_sums(lambda x: relu_mlp(x, Wa, Wb), x, Wa, n, Wb)
    return [*sides, *(below(int((jumps != 0).sum()), len(Wb)) for jumps, _ in sides)]


PHI = choice("phi", nn.ReLU(), nn.Softplus(), nn.PReLU())
WIDTH = size("C", 1, 2)


@claim(
    phi=PHI,
    x=tensors(WIDTH),
    Wa=tensors(WIDTH, H),
    Wb=tensors(H, WIDTH),
    place="Sec. 3, caption of Fig. 2",
    printed="Other formats of nonlinear function can also be used here to derive the same conclusion",
)
def fig2_other_functions(phi: nn.Module, x: Tensor, Wa: Tensor, Wb: Tensor) -> Sides:
    """The MLP is a sum of phi of a scale times x_c plus a bias for other functions phi too: ReLU, SoftPlus, PReLU."""
    m, n = Wa, others(x, Wa)
    return mlp(x, Wa, Wb, phi), einsum("jc,cj->c", Wb, phi(m * x[:, None] + n))


@claim(
    Wd=tensors(1, 1, values=FEW),
    We=tensors(2, 1, values=FEW),
    f=agelus(1, nn.ReLU, values=FEW),
    g=agelus(1, nn.ReLU, values=FEW),
    place="Sec. 4.1, last paragraph, for Fig. 2's phi = ReLU",
    printed="the proposed AMLP module (Eq. 6) is also a generator that generates the same degree of non-linearity",
    nearest="fig2_amlp_kinks_corrected",
    examples=[
        {
            "Wd": tensor([[1.0]]),
            "We": tensor([[1.0], [1.0]]),
            "f": agelu(1.0, 1.0, 0.0, 0.0, nn.ReLU),
            "g": agelu(2.0, 2.0, 0.0, 1.0, nn.ReLU),
        }
    ],
)
def fig2_amlp_kinks(Wd: Tensor, We: Tensor, f: AGeLU, g: AGeLU) -> Sides:
    """With AReLUs each output of the AMLP, against x_c, has C' kinks too: the same degree of non-linearity.

    Tested where alpha, beta and theta of the two AReLUs differ, and no weight is zero.
    """
    assume(f.alpha != g.alpha and f.beta != g.beta and f.theta != g.theta)
    alpha, _, gamma, _ = joined(f, g)
    m = alpha * cat([Wd, Wd], dim=1)
    (kinks,) = kinks_of(lambda x: amlp(x, Wd, We, f, g), tensor([0.0]), m, gamma[None])
    return kinks, 2


@claim(
    x=tensors(C, values=FEW),
    Wd=tensors(C, HALF, values=FEW),
    We=tensors(HALF.map(lambda half: 2 * half), C, values=FEW),
    f=agelus(HALF, nn.ReLU, values=FEW),
    g=agelus(HALF, nn.ReLU, values=FEW),
    place="Sec. 4.1, last paragraph, for Fig. 2's phi = ReLU",
    corrected="y'_c has a kink at x_c = t if and only if sum_{j: -n'_{cj} / m'_{cj} = t} w^e_{jc} beta_j |m'_{cj}| != "
    "0; at most C'",
)
def fig2_amlp_kinks_corrected(x: Tensor, Wd: Tensor, We: Tensor, f: AGeLU, g: AGeLU) -> Sides:
    """With AReLUs each output of the AMLP, against x_c, has at most C' kinks: one wherever jumps do not cancel.

    So it has C' kinks where the -n'_{cj} / m'_{cj} are different and no weight is zero, m' and n' with the factor
    alpha_j.
    """
    alpha, beta, gamma, _ = joined(f, g)
    Wdf = cat([Wd, Wd], dim=1)  # w^d_{c,f(j)}
    m, n = alpha * Wdf, alpha * others(x, Wdf) + gamma
    sides = jumps_and_sums(lambda x: amlp(x, Wd, We, f, g), x, m, n, beta[:, None] * We)
    return [*sides, *(below(int((jumps != 0).sum()), len(We)) for jumps, _ in sides)]


@claim(
    Wd=tensors(2, HALF, values=FEW),
    We=tensors(HALF.map(lambda half: 2 * half), 2, values=FEW),
    place="Sec. 5.2 on Table 3, for Fig. 2's phi = ReLU",
    printed="the two GeLU functions with the same scale and bias cause a simple replication along the channel "
    "dimension",
)
def fig2_concat_kinks(x: Tensor, Wd: Tensor, We: Tensor) -> Sides:
    """With concat(ReLU, ReLU) and C'/2 columns in the first layer, each output against x_c has at most C'/2 kinks."""
    m, n = cat([Wd, Wd], dim=1), cat([others(x, Wd)] * 2, dim=1)

    def concat(x: Tensor) -> Tensor:
        return amlp(x, Wd, We, None, None, nn.ReLU)

    sides = jumps_and_sums(concat, x, m, n, We)
    same = (concat(x), cat([F.relu(x @ Wd)] * 2) @ We)
    return [same, *sides, *(below(int((jumps != 0).sum()), Wd.shape[1]) for jumps, _ in sides)]
