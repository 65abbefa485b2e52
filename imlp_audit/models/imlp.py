"""AGeLU (IMLP, Eq. 3 and 4), the improved MLP block (Eq. 5 and Fig. 4) under any reading, and what replaces an MLP."""

from __future__ import annotations

import copy
from functools import partial
from math import isqrt
from typing import TYPE_CHECKING, assert_never

import torch
from torch import Tensor, nn

from imlp_audit.errors import BuildError
from imlp_audit.models.blocks import Activation, ImlpRecipe, Part
from imlp_audit.models.readings import (
    PRINTED,
    AGeLUParameters,
    ConcatNorm,
    DepthwiseActivation,
    DepthwiseNorm,
    OutputNorm,
    Reading,
)

if TYPE_CHECKING:
    from timm.layers import Mlp  # which claims do not wait for


BASE_ACTIVATIONS: dict[Activation, type[nn.Module]] = {
    Activation.GELU: nn.GELU,
    Activation.RELU: nn.ReLU,
    Activation.PRELU: nn.PReLU,
    Activation.SOFTPLUS: nn.Softplus,
}


class AGeLU(nn.Module):
    """Computes beta * phi(alpha * x + gamma) + theta (Eq. 3; Eq. 4 with phi = GeLU).

    `channels` is the number of coefficients of each kind: the width for one per channel, 1 for one per
    layer. The channel axis of the input is its last, or the second where `channels_first`.
    Initialised so that it equals phi.
    """

    def __init__(self, channels: int, act_layer: type[nn.Module] = nn.GELU, *, channels_first: bool = False) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.ones(channels))
        self.gamma = nn.Parameter(torch.zeros(channels))
        self.phi = act_layer()
        self.beta = nn.Parameter(torch.ones(channels))
        self.theta = nn.Parameter(torch.zeros(channels))
        self.shape = (-1, 1, 1) if channels_first else (-1,)

    def forward(self, x: Tensor) -> Tensor:
        alpha, gamma = self.alpha.view(self.shape), self.gamma.view(self.shape)
        beta, theta = self.beta.view(self.shape), self.theta.view(self.shape)
        bent: Tensor = self.phi(alpha * x + gamma)
        return beta * bent + theta


class TokenBatchNorm(nn.BatchNorm1d):
    """Batch normalisation of the last axis of (batch, ..., channels)."""

    def forward(self, input: Tensor) -> Tensor:
        return super().forward(input.flatten(0, -2)).view_as(input)


def _norm(kind: ConcatNorm | DepthwiseNorm | OutputNorm, width: int, *, channels_first: bool) -> nn.Module:
    match kind:
        case ConcatNorm.NONE | DepthwiseNorm.NONE | OutputNorm.NONE:
            return nn.Identity()
        case ConcatNorm.LAYER | OutputNorm.LAYER:
            if not channels_first:
                return nn.LayerNorm(width)
            from timm.layers import LayerNorm2d  # claims run this block, and importing timm takes longer than most

            norm: nn.Module = LayerNorm2d(width, eps=1e-5)
            return norm
        case ConcatNorm.BATCH | DepthwiseNorm.BATCH:
            return nn.BatchNorm2d(width) if channels_first else TokenBatchNorm(width)
        case _:
            assert_never(kind)


def _agelu(width: int, reading: Reading, act_layer: type[nn.Module], *, channels_first: bool) -> AGeLU:
    per_channel = reading.agelu_parameters is AGeLUParameters.PER_CHANNEL
    return AGeLU(width if per_channel else 1, act_layer, channels_first=channels_first)


class ChannelPart(nn.Module):
    """Channel-wise enhancement: two AGeLUs of the same input, concatenated (Eq. 5), and the norm after them.

    With `plain` the activation itself stands in place of AGeLU (Table 3, "GeLU+concat"): the same values twice.
    Maps (..., h) to (..., 2h), or (batch, h, H, W) to (batch, 2h, H, W).
    """

    def __init__(
        self, hidden: int, reading: Reading, act_layer: type[nn.Module], *, channels_first: bool, plain: bool = False
    ) -> None:
        super().__init__()
        make = act_layer if plain else partial(_agelu, hidden, reading, act_layer, channels_first=channels_first)
        self.agelu1, self.agelu2 = make(), make()
        self.norm = _norm(reading.concat_norm, 2 * hidden, channels_first=channels_first)
        self.axis = 1 if channels_first else -1

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.norm(torch.cat((self.agelu1(x), self.agelu2(x)), dim=self.axis))
        return y


class DepthwiseBlock(nn.Module):
    """Spatial-wise enhancement: depthwise convolution, norm, activation (Sec. 4.3), and a skip if read so.

    Maps (batch, width, H, W) to the same shape.
    """

    def __init__(self, width: int, kernel: int, reading: Reading, act_layer: type[nn.Module]) -> None:
        super().__init__()
        self.conv = nn.Conv2d(
            width, width, kernel, padding=kernel // 2, groups=width, bias=bool(reading.depthwise_bias)
        )
        self.norm = _norm(reading.depthwise_norm, width, channels_first=True)
        self.act = self._activation(width, reading, act_layer)
        self.skip = bool(reading.depthwise_skip)

    @staticmethod
    def _activation(width: int, reading: Reading, act_layer: type[nn.Module]) -> nn.Module:
        match reading.depthwise_activation:
            case DepthwiseActivation.NONE:
                return nn.Identity()
            case DepthwiseActivation.GELU:
                return nn.GELU()
            case DepthwiseActivation.AGELU:
                return _agelu(width, reading, act_layer, channels_first=True)
            case _:
                assert_never(reading.depthwise_activation)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.act(self.norm(self.conv(x)))
        return x + y if self.skip else y


class Imlp(nn.Module):
    """IMLP in the constructor contract of timm's `Mlp`, plus the reading, the kernel, the part and the grid.

    Accepts (batch, tokens, channels) with `prefix_tokens` leading tokens that are not on the grid,
    (batch, H, W, channels), or with `use_conv` (batch, channels, H, W), and keeps the shape except for
    `out_features`. `grid` is the (H, W) of the tokens, square where None. `hidden_features` is the
    width of the first FC layer; the second reads twice that where the channel part is used. A
    `norm_layer` given takes the place of the reading's norm after the concatenation; `plain` leaves the
    coefficients of the channel part's AGeLUs out.
    """

    def __init__(
        self,
        in_features: int,
        hidden_features: int | None = None,
        out_features: int | None = None,
        act_layer: type[nn.Module] = nn.GELU,
        norm_layer: type[nn.Module] | None = None,
        bias: bool | tuple[bool, bool] = True,
        drop: float | tuple[float, float] = 0.0,
        use_conv: bool = False,
        *,
        reading: Reading,
        kernel: int = 3,
        part: Part = Part.CHANNEL_AND_SPATIAL,
        plain: bool = False,
        grid: tuple[int, int] | None = None,
        prefix_tokens: int = 0,
    ) -> None:
        super().__init__()
        out_features = out_features or in_features
        hidden = hidden_features or in_features
        bias1, bias2 = bias if isinstance(bias, tuple) else (bias, bias)
        drop1, drop2 = drop if isinstance(drop, tuple) else (drop, drop)
        self.use_conv, self.grid, self.prefix_tokens = use_conv, grid, prefix_tokens
        self.advice = ""  # of whoever puts it where tokens may form no grid
        self.fc1 = self._fc(in_features, hidden, bias=bias1 and bool(reading.fc1_bias))
        if part is Part.SPATIAL:
            self.act: nn.Module = act_layer()
            width = hidden
        else:
            self.act = ChannelPart(hidden, reading, act_layer, channels_first=use_conv, plain=plain)
            width = 2 * hidden
            if norm_layer is not None:
                self.act.norm = norm_layer(width)
        self.drop1 = nn.Dropout(drop1)
        self.spatial = None if part is Part.CHANNEL else DepthwiseBlock(width, kernel, reading, act_layer)
        self.fc2 = self._fc(width, out_features, bias=bias2 and bool(reading.fc2_bias))
        self.norm = _norm(reading.output_norm, out_features, channels_first=use_conv)
        self.drop2 = nn.Dropout(drop2)

    def _fc(self, width_in: int, width_out: int, *, bias: bool) -> nn.Module:
        if self.use_conv:
            return nn.Conv2d(width_in, width_out, 1, bias=bias)
        return nn.Linear(width_in, width_out, bias=bias)

    def _enhance_spatially(self, x: Tensor) -> Tensor:
        """Apply the depthwise block on the grid, whatever the layout; prefix tokens pass by."""
        if self.spatial is None:
            return x
        if self.use_conv:
            y: Tensor = self.spatial(x)
            return y
        if x.ndim == 4:
            y = self.spatial(x.permute(0, 3, 1, 2))
            return y.permute(0, 2, 3, 1)
        prefix, patches = x[:, : self.prefix_tokens], x[:, self.prefix_tokens :]
        tokens = patches.shape[1]
        height, width = self.grid or (isqrt(tokens), isqrt(tokens))
        if height * width != tokens:
            raise BuildError(f"mlp: {tokens} tokens do not form a grid{self.advice}")
        y = self.spatial(patches.transpose(1, 2).reshape(len(x), -1, height, width))
        y = y.flatten(2).transpose(1, 2)
        return torch.cat((prefix, y), dim=1) if self.prefix_tokens else y

    def forward(self, x: Tensor) -> Tensor:
        """Map the input to (..., out_features) in its own layout."""
        x = self.drop1(self.act(self.fc1(x)))
        x = self._enhance_spatially(x)
        y: Tensor = self.drop2(self.norm(self.fc2(x)))
        return y


def amlp(width: int, hidden: int, outputs: int | None = None) -> Imlp:
    """Return the AMLP module with the biases of Theorem 1: two FC layers and two AGeLUs of `hidden` units between."""
    return Imlp(width, hidden, outputs, reading=PRINTED, part=Part.CHANNEL)


def imlp_for(
    mlp: Mlp,
    block: ImlpRecipe,
    reading: Reading,
    activation: Activation | None,
    *,
    grid: tuple[int, int] | None,
    prefix_tokens: int,
) -> Imlp:
    """Make the block that replaces an MLP. Raises BuildError if it has no hidden channel."""
    use_conv = isinstance(mlp.fc1, nn.Conv2d)
    width, out = mlp.fc1.weight.shape[1], mlp.fc2.weight.shape[0]
    hidden = int(width * block.ratio)
    if not hidden:
        raise BuildError(f"ratio: {block.ratio:g} of {width} channels is less than one channel")
    replacement = Imlp(
        width,
        hidden,
        out,
        act_layer=BASE_ACTIVATIONS[activation or Activation.GELU],
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


def with_activation(mlp: Mlp, activation: Activation | None, *, agelu: bool) -> nn.Module:
    """Return an MLP with the same layers and another activation: GeLU, or the one given, as an AGeLU if so asked."""
    base = BASE_ACTIVATIONS[activation or Activation.GELU]
    use_conv, hidden = isinstance(mlp.fc1, nn.Conv2d), mlp.fc1.weight.shape[0]
    act = AGeLU(hidden, base, channels_first=use_conv) if agelu else base()
    other = copy.copy(mlp)
    assert isinstance(other, nn.Module)
    other._modules = {**other._modules, "act": act}
    return other


def copy_module(module: nn.Module) -> nn.Module:
    """Return a module of its own parameters and modules that is otherwise the same."""
    other = copy.copy(module)
    other._parameters = {
        name: one if one is None else nn.Parameter(one.detach().clone(), one.requires_grad)
        for name, one in other._parameters.items()
    }
    other._modules = {name: one if one is None else copy_module(one) for name, one in other._modules.items()}
    return other
