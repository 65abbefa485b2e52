"""Fig. 4 (b): the IMLP as a host gets it, in any layout and reading and with any of its arguments, and its formula."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from math import isqrt
from random import Random
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, cat, nn, unflatten

from imlp_audit.claims import Side, gradients
from imlp_audit.models.blocks import Part
from imlp_audit.models.imlp import Imlp
from imlp_audit.models.readings import (
    PRINTED,
    AGeLUParameters,
    ConcatNorm,
    DepthwiseActivation,
    DepthwiseNorm,
    OutputNorm,
    Reading,
)

SMALL = (1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 0.0, 1 / 3, -0.7, 1.1, -1.4, 0.2)  # so that norms do not amplify rounding


class Layout(StrEnum):
    """How a host lays out its features."""

    TOKENS = "tokens"
    CLASS_TOKEN = "tokens after a class token"
    CHANNELS_LAST = "channels last"
    CHANNELS_FIRST = "channels first"


class Place(NamedTuple):
    """How a host lays out its features, (H, W) of the grid, and how many tokens are before its positions."""

    layout: Layout
    size: tuple[int, int]
    before: int = 0

    @property
    def tokens(self) -> int:
        """How many tokens or positions come in."""
        return self.size[0] * self.size[1] + self.before


PLACES = (
    Place(Layout.TOKENS, (2, 2)), Place(Layout.CLASS_TOKEN, (3, 2), 1), Place(Layout.CHANNELS_LAST, (2, 3)),
    Place(Layout.CHANNELS_FIRST, (3, 2)), Place(Layout.CLASS_TOKEN, (1, 2), 2),
)  # fmt: skip


class Raise(nn.Module):
    """A norm that a user may give in place of the reading's: it adds the width that it is made for."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, x: Tensor) -> Tensor:
        """Return x + width."""
        return x + self.width


@dataclass(frozen=True)
class Block:
    """The arguments of an IMLP, and what comes in.

    `terse` leaves out the arguments that are the constructor's defaults.
    """

    place: Place = PLACES[0]
    C: int = 2
    h: int = 2
    out: int = 2
    reading: Reading = PRINTED
    part: Part = Part.CHANNEL_AND_SPATIAL
    plain: bool = False
    kernel: int = 3
    phi: type[nn.Module] = nn.GELU
    norm_layer: type[nn.Module] | None = None
    bias: tuple[bool, bool] | bool = (True, True)
    drop: tuple[float, float] | float = (0.0, 0.0)
    training: bool = False
    terse: bool = False

    @property
    def biases(self) -> tuple[bool, bool]:
        """Whether each layer may have a bias; one answer is for both."""
        return self.bias if isinstance(self.bias, tuple) else (self.bias, self.bias)

    @property
    def drops(self) -> tuple[float, float]:
        """The probabilities of both dropouts; one is that of both."""
        return self.drop if isinstance(self.drop, tuple) else (self.drop, self.drop)

    def make(self) -> Imlp:
        """Return the package's block."""
        layout, size, before = self.place
        side = isqrt(size[0] * size[1])
        arguments: dict[str, tuple[Any, Any]] = {
            "hidden_features": (self.h, self.C), "out_features": (self.out, self.C), "act_layer": (self.phi, nn.GELU),
            "norm_layer": (self.norm_layer, None), "bias": (self.bias, (True, True)), "drop": (self.drop, (0.0, 0.0)),
            "use_conv": (layout is Layout.CHANNELS_FIRST, False), "kernel": (self.kernel, 3),
            "part": (self.part, Part.CHANNEL_AND_SPATIAL), "plain": (self.plain, False),
            "grid": (size, (side, side)), "prefix_tokens": (before, 0),
        }  # fmt: skip
        given = {name: own for name, (own, default) in arguments.items() if not (self.terse and own == default)}
        return Imlp(self.C, reading=self.reading, **given)

    def apply(self, module: nn.Module, x: Tensor) -> Tensor:
        """Apply a module to tokens (batch, tokens, C) as a host with this layout does."""
        match self.place.layout:
            case Layout.TOKENS | Layout.CLASS_TOKEN:
                y: Tensor = module(x)
            case Layout.CHANNELS_LAST:
                y = module(unflatten(x, 1, self.place.size)).flatten(1, 2)
            case Layout.CHANNELS_FIRST:
                y = module(unflatten(x.mT, 2, self.place.size)).flatten(2).mT
        return y


class Fig4:
    """Fig. 4 (b), part by part, in the weights of a block.

    `shapes` are those of the weights that it has; `running` are its running statistics after a step.
    """

    def __init__(self, block: Block, module: Imlp) -> None:
        self.block, self.running, self.shapes = block, dict[str, Tensor](), dict[str, tuple[int, ...]]()
        self._weights = {**dict(module.named_parameters()), **{n: b.clone() for n, b in module.named_buffers()}}

    def weight(self, name: str, *shape: int) -> Tensor:
        """Return a weight by its name, of which the figure has this shape."""
        self.shapes[name] = shape
        return self._weights[name]

    def __call__(self, x: Tensor) -> Tensor:
        """Return FC(DWBlock(concat(AGeLU(t), AGeLU'(t)))), t = FC(x), for tokens (batch, tokens, C)."""
        block, reading, positions = self.block, self.block.reading, self.block.place.tokens - self.block.place.before
        t = self.channel(self.linear("fc1", x, block.h, bias=block.biases[0] and bool(reading.fc1_bias)))
        t = self.drop(t, block.drops[0])
        if block.part is not Part.CHANNEL:
            grid = self.spatial(unflatten(t[:, -positions:].mT, 2, block.place.size))
            t = cat([t[:, :-positions], grid.flatten(2).mT], 1)
        y = self.linear("fc2", t, block.out, bias=block.biases[1] and bool(reading.fc2_bias))
        return self.drop(self.layer_norm("norm", y) if reading.output_norm is OutputNorm.LAYER else y, block.drops[1])

    def drop(self, x: Tensor, p: float) -> Tensor:
        """Return in training 0 for numbers drawn with probability p, each apart, and the others divided by 1 - p."""
        return x * F.dropout(torch.ones(x.shape), p, self.block.training)

    def linear(self, name: str, x: Tensor, outputs: int, *, bias: bool) -> Tensor:
        """Return x W + b, or x W."""
        ends = (1, 1) if self.block.place.layout is Layout.CHANNELS_FIRST else ()
        y = x @ self.weight(f"{name}.weight", outputs, x.shape[-1], *ends).flatten(1).T
        return y + self.weight(f"{name}.bias", outputs) if bias else y

    def channel(self, t: Tensor) -> Tensor:
        """Return concat(AGeLU(t), AGeLU'(t)) and the norm behind it, or phi(t) without the channel part."""
        block = self.block
        if block.part is Part.SPATIAL:
            return self.phi("act", t)
        phi = self.phi if block.plain else self.agelu
        t = cat([phi("act.agelu1", t), phi("act.agelu2", t)], -1)
        if block.norm_layer is not None:
            return t + 2 * block.h
        match block.reading.concat_norm:
            case ConcatNorm.NONE:
                return t
            case ConcatNorm.LAYER:
                return self.layer_norm("act.norm", t)
            case ConcatNorm.BATCH:
                return self.batch_norm("act.norm", t.mT).mT

    def spatial(self, x: Tensor) -> Tensor:
        """Return DWConv, BN and GeLU of maps (batch, channels, H, W), and the skip around them."""
        reading, channels, n = self.block.reading, x.shape[1], self.block.kernel
        y = window_sum(self.weight("spatial.conv.weight", channels, 1, n, n)[:, 0], x)
        if reading.depthwise_bias:
            y = y + self.weight("spatial.conv.bias", channels)[:, None, None]
        if reading.depthwise_norm is DepthwiseNorm.BATCH:
            y = self.batch_norm("spatial.norm", y.flatten(2)).view_as(y)
        match reading.depthwise_activation:
            case DepthwiseActivation.GELU:
                y = F.gelu(y)
            case DepthwiseActivation.AGELU:
                y = self.agelu("spatial.act", y.movedim(1, -1)).movedim(-1, 1)
        return x + y if reading.depthwise_skip else y

    def agelu(self, name: str, x: Tensor) -> Tensor:
        """Return beta phi(alpha x + gamma) + theta."""
        size = x.shape[-1] if self.block.reading.agelu_parameters is AGeLUParameters.PER_CHANNEL else 1
        each = (self.weight(f"{name}.{coefficient}", size) for coefficient in ("alpha", "beta", "gamma", "theta"))
        alpha, beta, gamma, theta = each
        return beta * self.phi(f"{name}.phi", alpha * x + gamma) + theta

    def phi(self, name: str, x: Tensor) -> Tensor:
        """Return phi(x); PReLU has a slope of its own."""
        if self.block.phi is nn.PReLU:
            return x.clamp(min=0) + self.weight(f"{name}.weight", 1) * x.clamp(max=0)
        y: Tensor = self.block.phi()(x)
        return y

    def layer_norm(self, name: str, x: Tensor) -> Tensor:
        """Return (x - mean) / sqrt(variance + 10^-5) g + s over the channels of each token."""
        width = x.shape[-1]
        return F.layer_norm(x, (width,), self.weight(f"{name}.weight", width), self.weight(f"{name}.bias", width), 1e-5)

    def batch_norm(self, name: str, x: Tensor) -> Tensor:
        """Return (x - m) / sqrt(v + 10^-5) g + s of (batch, channels, positions), m and v of the batch in training.

        Then those of the block move a tenth of the way to them.
        """
        names = [f"{name}.{each}" for each in ("running_mean", "running_var", "weight", "bias")]
        m, v, g, s = (self.weight(each, x.shape[1]) for each in names)
        if self.block.training:
            step = f"{name}.num_batches_tracked"
            self.running |= {names[0]: m, names[1]: v, step: self.weight(step) + 1}
        return F.batch_norm(x, m, v, g, s, self.block.training, momentum=0.1, eps=1e-5)


def compare(block: Block, m: Imlp, x: Tensor) -> list[Side]:
    """Return the block and Fig. 4: their weights, outputs and gradients, and the running statistics after a step."""
    formula = Fig4(block, m)
    with torch.random.fork_rng():  # so that the figure draws the same numbers to drop
        y = block.apply(m, x)
    printed = formula(x)
    shapes = {name: tuple(weight.shape) for name, weight in m.named_parameters()}
    sides: list[Side] = [shapes.items() <= formula.shapes.items(), (y, printed)]
    if block.phi not in (nn.ReLU, nn.PReLU):  # rounding decides which side of their corner an argument is on
        sides.append((gradients(y, m), gradients(printed, m)))
    if not block.training:
        sides.append((block.apply(m, x[1:]), printed[1:]))
    return [*sides, *((m.get_buffer(name), after) for name, after in formula.running.items())]


def window_sum(a: Tensor, x: Tensor, indices: Sequence[int] | None = None) -> Tensor:
    """Return sum_{i,j} a_{i,j,c} x_{h+i,w+j,c}, i and j from -n to n or of some others, without what is off the grid.

    a is (channels, 2n+1, 2n+1), a_{i,j,c} at row i + n and column j + n; x is (batch, channels, H, W).
    """
    n, (height, width) = a.shape[-1] // 2, x.shape[-2:]
    padded = F.pad(x, (n, n, n, n))
    pairs = [(i + n, j + n) for i in indices or range(-n, n + 1) for j in indices or range(-n, n + 1)]
    return sum(a[:, i, j, None, None] * padded[..., i : i + height, j : j + width] for i, j in pairs)  # type: ignore[return-value]


def cover(**axes: Sequence[object]) -> list[dict[str, Any]]:
    """Return settings of some axes in which every pair of values of two axes occurs: few more than the longest two."""
    random, rows = Random(0), list[dict[str, Any]]()
    values = {name: range(len(each)) for name, each in axes.items()}
    left = {((a, i), (b, j)) for a, b in combinations(axes, 2) for i in values[a] for j in values[b]}
    while left:
        first = dict(min(left))
        tries = [{name: first.get(name, random.choice(each)) for name, each in values.items()} for _ in range(10)]
        best = max(tries, key=lambda row: len(left.intersection(combinations(row.items(), 2))))
        left.difference_update(combinations(best.items(), 2))
        rows.append({name: axes[name][place] for name, place in best.items()})
    return rows
