"""AGeLUs, MLPs and AMLPs with given numbers, as the package's modules compute them."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TypeVar

import torch
from hypothesis.strategies import SearchStrategy
from torch import Tensor, cat, nn
from torch.func import functional_call

from imlp_audit.claims import NONZERO, modules
from imlp_audit.models.blocks import Activation, Part
from imlp_audit.models.imlp import AGeLU, Imlp
from imlp_audit.models.mixer import Mlp
from imlp_audit.models.readings import PRINTED

Size = int | SearchStrategy[int]
Module = TypeVar("Module", bound=nn.Module)
PHIS: dict[Activation, type[nn.Module]] = {
    Activation.GELU: nn.GELU,
    Activation.RELU: nn.ReLU,
    Activation.SOFTPLUS: nn.Softplus,
    Activation.PRELU: nn.PReLU,
}


def agelu(
    alpha: float = 1.0, beta: float = 1.0, gamma: float = 0.0, theta: float = 0.0, phi: type[nn.Module] = nn.GELU
) -> AGeLU:
    """Return an AGeLU of one channel; by default as training starts."""
    module = AGeLU(1, phi)
    for name, value in (("alpha", alpha), ("beta", beta), ("gamma", gamma), ("theta", theta)):
        module.get_parameter(name).data.fill_(value)
    return module


def agelus(
    channels: Size, phi: type[nn.Module] = nn.GELU, *, values: Sequence[float] = NONZERO
) -> SearchStrategy[AGeLU]:
    """AGeLUs that are not constant."""
    return modules(AGeLU, channels, phi, values=values)


def joined(f: AGeLU, g: AGeLU) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return alpha, beta, gamma, theta of both, as Eq. 6 renames alpha'_1 to alpha_{C'/2+1}, and so on."""
    return cat([f.alpha, g.alpha]), cat([f.beta, g.beta]), cat([f.gamma, g.gamma]), cat([f.theta, g.theta])


def mlp(x: Tensor, Wa: Tensor, Wb: Tensor, phi: nn.Module | None = None, *, training: bool = False) -> Tensor:
    """Return phi(x W^a) W^b (Eq. 1); x is one input or has one a row."""
    with torch.device("meta"):
        module = Mlp(Wa.shape[0], Wa.shape[1], bias=False)
    if phi is not None:
        module.register_module("act", phi)
    own = {f"act.{name}": value for name, value in module.act.named_parameters()}
    return run(module.train(training), {"fc1.weight": Wa.T, "fc2.weight": Wb.T, **own}, x)


def amlp(
    x: Tensor, Wd: Tensor, We: Tensor, f: AGeLU | None, g: AGeLU | None, phi: type[nn.Module] = nn.GELU, *,
    training: bool = False,
) -> Tensor:  # fmt: skip
    """Return concat(AGeLU(x W^d), AGeLU'(x W^d)) W^e (Eq. 5), the IMLP block's channel part alone, without biases.

    x is one input or has one a row; without AGeLUs phi is twice in their place.
    """
    with torch.device("meta"):
        block = Imlp(
            Wd.shape[0], Wd.shape[1], We.shape[1], act_layer=phi if f is None else type(f.phi), bias=False,
            reading=PRINTED, part=Part.CHANNEL, plain=f is None,
        )  # fmt: skip
    numbers = {"fc1.weight": Wd.T, "fc2.weight": We.T}
    for name, each in (("act.agelu1", f), ("act.agelu2", g)):
        numbers |= {f"{name}.{key}": value for key, value in (each.named_parameters() if each else ())}
    return run(block.train(training), numbers, x)


def t2(x: Tensor, Wd: Tensor, f: AGeLU, g: AGeLU) -> Tensor:
    """Return concat(AGeLU(x W^d), AGeLU'(x W^d)): the AMLP where W^e is the identity."""
    return amlp(x, Wd, torch.eye(2 * Wd.shape[1]), f, g)


def under_gelu(x: Tensor, Wd: Tensor, f: AGeLU, g: AGeLU) -> Tensor:
    """Return the C' numbers that GeLU is applied to in the AMLP: alpha_j (x W^d)_{f(j)} + gamma_j."""
    bare = [AGeLU(len(each.alpha), nn.Identity) for each in (f, g)]
    for identity, each in zip(bare, (f, g), strict=True):
        identity.alpha, identity.gamma = each.alpha, each.gamma
    return t2(x, Wd, *bare)


def under_phi(x: Tensor, Wa: Tensor) -> Tensor:
    """Return the C' numbers that phi is applied to in the MLP: x W^a."""
    return mlp(x, Wa, torch.eye(Wa.shape[1]), nn.Identity())


def run(module: nn.Module, numbers: Mapping[str, Tensor], x: Tensor) -> Tensor:
    """Return what a module computes with these numbers in place of all of its parameters and buffers."""
    y: Tensor = functional_call(module, dict(numbers), (x,), strict=True)
    return y


def along(x: Tensor, c: int, places: Tensor) -> Tensor:
    """Return x with each of some numbers in place of x_c, one a row."""
    rows = x.repeat(len(places), 1)
    rows[:, c] = places
    return rows


def others(x: Tensor, W: Tensor) -> Tensor:
    """Return sum_{i=1, i != c}^{C} w_{ij} x_i, for each c (row) and j (column)."""
    return torch.einsum("ij,i,ci->cj", W, x, 1 - torch.eye(len(x)))


def apart(m: Tensor, n: Tensor) -> bool:
    """Return whether no scale is 0, and no two arguments m x_c + n are equal or opposite."""
    pairs = [*zip(m.tolist(), n.tolist(), strict=True)]
    return bool(m.all()) and not any(one in (other, (-other[0], -other[1])) for one, other in combinations(pairs, 2))


def leaves(*tensors: Tensor) -> list[Tensor]:
    """Return copies of tensors to differentiate by."""
    return [each.detach().clone().requires_grad_() for each in tensors]


def with_gradients(left: Tensor, right: Tensor, G: Tensor, *by: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Return both sides, and the derivatives of sum G left and of sum G right by each of some tensors."""
    each = (torch.autograd.grad((G * side).sum(), by) for side in (left, right))
    return [(left, right), *zip(*each, strict=True)]
