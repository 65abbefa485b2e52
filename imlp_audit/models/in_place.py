"""What takes the place of one MLP: modules of its widths and layout, and in its mode.

No library of models is needed here, so that claims can run it.
"""

from __future__ import annotations

import copy
from typing import Protocol

from torch import nn

from imlp_audit.errors import BuildError
from imlp_audit.models import imlp
from imlp_audit.models.agelu import AGeLU, SumOfFunctions, base_activation
from imlp_audit.models.blocks import Activation, ImlpRecipe, Sums
from imlp_audit.models.reading import Reading


class Replaceable(Protocol):
    """What is read of an MLP: two layers, linear or 1x1 convolutions, and the dropout behind each."""

    training: bool

    @property
    def fc1(self) -> nn.Linear | nn.Conv2d:
        """The first layer."""

    @property
    def fc2(self) -> nn.Linear | nn.Conv2d:
        """The second layer."""

    @property
    def drop1(self) -> nn.Dropout:
        """The dropout behind the activation."""

    @property
    def drop2(self) -> nn.Dropout:
        """The dropout behind the second layer."""


def imlp_for(
    mlp: Replaceable,
    block: ImlpRecipe,
    reading: Reading,
    activation: Activation | None,
    *,
    grid: tuple[int, int] | None,
    prefix_tokens: int,
) -> imlp.Imlp:
    """Make the block that replaces an MLP. Raises BuildError if it has no hidden channel."""
    use_conv = isinstance(mlp.fc1, nn.Conv2d)
    width, out = mlp.fc1.weight.shape[1], mlp.fc2.weight.shape[0]
    hidden = int(width * block.ratio)
    if not hidden:
        raise BuildError(f"ratio: {block.ratio:g} of {width} channels is less than one channel")
    replacement = imlp.Imlp(
        width,
        hidden,
        out,
        act_layer=base_activation(activation or Activation.GELU),
        bias=(mlp.fc1.bias is not None, mlp.fc2.bias is not None),
        drop=(mlp.drop1.p, mlp.drop2.p),
        use_conv=use_conv,
        reading=reading,
        kernel=block.kernel,
        part=block.part,
        plain=block.plain,
        grid=grid,
        prefix_tokens=prefix_tokens,
    )
    return replacement.train(mlp.training)


def sums_for(mlp: Replaceable, sums: Sums) -> SumOfFunctions:
    """Make the sum of nonlinear functions that replaces an MLP."""
    use_conv = isinstance(mlp.fc1, nn.Conv2d)
    width = mlp.fc1.weight.shape[1]
    replacement = SumOfFunctions(width, sums.ratio, agelu=sums.agelu, channels_first=use_conv)
    return replacement.train(mlp.training)


def with_activation(mlp: Replaceable, activation: Activation | None, *, agelu: bool) -> nn.Module:
    """Return an MLP with the same layers and another activation: GeLU, or the one given, as an AGeLU if so asked."""
    base = base_activation(activation or Activation.GELU)
    use_conv, hidden = isinstance(mlp.fc1, nn.Conv2d), mlp.fc1.weight.shape[0]
    act = AGeLU(hidden, base, channels_first=use_conv) if agelu else base()
    other = copy.copy(mlp)
    assert isinstance(other, nn.Module)
    other._modules = {**other._modules, "act": act}
    return other
