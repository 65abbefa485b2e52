"""Eq. 2 and 3 on features X whose columns are patches, (batch, d, N^2); modules have (batch, N^2, d)."""

from collections.abc import Mapping
from typing import TypeVar

from torch import Tensor, nn
from torch.nn.functional import gelu

from imlp_audit.claims import size
from imlp_audit.models.resmlp import ResMlpLayer

Module = TypeVar("Module", bound=nn.Module)

d, patches = size("d", 1, 2), size("N^2", 1, 4)


def aff(x: Tensor, module: nn.Module) -> Tensor:
    """Diag(alpha) x + beta of each column (Eq. 1)."""
    alpha, beta = module.get_parameter("alpha"), module.get_parameter("beta")
    return alpha.diag() @ x + beta[:, None]


def eq2(x: Tensor, layer: ResMlpLayer, a: Tensor | None = None) -> Tensor:
    """Z = X + Aff((A Aff(X)^T)^T), with another A if one is given."""
    a = layer.get_parameter("across_patches.a.weight") if a is None else a
    return x + aff((a @ aff(x, layer.pre1).mT).mT, layer.post1)


def eq3(z: Tensor, layer: ResMlpLayer) -> Tensor:
    """Y = Z + Aff(C GELU(B Aff(Z)))."""
    b, c = layer.get_parameter("across_channels.b.weight"), layer.get_parameter("across_channels.c.weight")
    return z + aff(c @ gelu(b @ aff(z, layer.pre2)), layer.post2)


def loaded(module: Module, weights: Mapping[str, Tensor]) -> Module:
    """Set the weights of these names; the others stay as they start."""
    module.load_state_dict({**module.state_dict(), **weights})
    return module
