"""How an IMLP block is made: all arguments that it takes, and the weights that it has with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isqrt

from torch import Tensor, nn

from imlp_audit.equations import draw as st
from imlp_audit.models.blocks import Part
from imlp_audit.models.imlp import Imlp
from imlp_audit.models.reading import (
    AGeLUParameters,
    ClassToken,
    ConcatNorm,
    DepthwiseActivation,
    DepthwiseNorm,
    OutputNorm,
    Presence,
    Reading,
)

from ._layouts import Layout
from ._series import GELU, PRELU, RELU, SOFTPLUS, Phi

Size = tuple[int, int]
Shapes = Mapping[str, tuple[int, ...]]


class Raise(nn.Module):
    """A norm layer that a user may give: it adds the width that it is made for."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, x: Tensor) -> Tensor:
        """Return x + width."""
        return x + self.width


@dataclass(frozen=True)
class Block:
    """The arguments of an IMLP, None for those left to its defaults, and the layout and the (H, W) of what comes in.

    `width`, `hidden` and `outputs` are C, C'/2 and the width of the output. `dropping` says whether dropout, of a
    probability of 0 or 1, is in training.
    """

    layout: Layout
    size: Size
    prefix: int
    grid: Size | None
    width: int
    hidden: int | None
    outputs: int | None
    reading: Reading
    part: Part | None
    plain: bool
    kernel: int | None
    phi: Phi | None
    norm_layer: type[nn.Module] | None
    bias: bool | tuple[bool, bool] | None
    drop: float | tuple[float, float] | None
    dropping: bool

    @property
    def channels_first(self) -> bool:
        """Whether the channels are the second axis."""
        return self.layout is Layout.CHANNELS_FIRST

    @property
    def tokens(self) -> bool:
        """Whether what comes in are tokens, of which `prefix` are not on the grid."""
        return self.layout in (Layout.TOKENS, Layout.CLASS_TOKEN)

    @property
    def arguments(self) -> dict[str, object]:
        """The arguments by the constructor's names, without those left to its defaults."""
        given = {
            "hidden_features": self.hidden, "out_features": self.outputs, "part": self.part, "kernel": self.kernel,
            "act_layer": self.phi and self.phi.module, "norm_layer": self.norm_layer, "bias": self.bias,
            "drop": self.drop, "use_conv": self.channels_first or None, "plain": self.plain or None,
            "grid": self.grid, "prefix_tokens": self.prefix or None,
        }  # fmt: skip
        return {"reading": self.reading, **{name: value for name, value in given.items() if value is not None}}

    def make(self) -> Imlp:
        """Return the package's block with these arguments."""
        return Imlp(self.width, **self.arguments)  # type: ignore[arg-type]  # by the constructor's names

    @property
    def channel(self) -> bool:
        """Whether the channel part is used."""
        return self.part is not Part.SPATIAL

    @property
    def spatial(self) -> bool:
        """Whether the spatial part is used."""
        return self.part is not Part.CHANNEL

    @property
    def units(self) -> int:
        """How many numbers the first layer gives: C where nothing else is said."""
        return self.width if self.hidden is None else self.hidden

    @property
    def inner(self) -> int:
        """How many numbers the second layer reads."""
        return 2 * self.units if self.channel else self.units

    @property
    def out(self) -> int:
        """How many numbers the second layer gives: C where nothing else is said."""
        return self.width if self.outputs is None else self.outputs

    @property
    def side(self) -> int:
        """The side of the kernel: 3 by default."""
        return 3 if self.kernel is None else self.kernel

    @property
    def base(self) -> Phi:
        """The activation: GeLU by default."""
        return self.phi or GELU

    @property
    def dropped(self) -> tuple[bool, bool]:
        """Whether everything is dropped behind the activation, and behind the second layer."""
        first, second = self.drop if isinstance(self.drop, tuple) else (self.drop, self.drop)
        return self.dropping and first == 1, self.dropping and second == 1

    @property
    def concat_norm(self) -> ConcatNorm:
        """The norm of the reading that follows the concatenation: none where another layer is given."""
        return self.reading.concat_norm if self.channel and self.norm_layer is None else ConcatNorm.NONE

    @property
    def fits(self) -> bool:
        """Whether there are hidden units, and the tokens lie on the grid that was given, or on a square one."""
        side = isqrt(self.size[0] * self.size[1])
        if not self.units:
            return False
        return not (self.spatial and self.tokens) or (self.grid or (side, side)) == self.size

    @property
    def shapes(self) -> Shapes:
        """The shapes of the block's weights, by name."""
        return dict(self._shapes())

    def _shapes(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        ends = (1, 1) if self.channels_first else ()
        first, second = self.bias if isinstance(self.bias, tuple) else (self.bias, self.bias)
        yield "fc1.weight", (self.units, self.width, *ends)
        if first is not False and self.reading.fc1_bias is Presence.YES:
            yield "fc1.bias", (self.units,)
        yield "fc2.weight", (self.out, self.inner, *ends)
        if second is not False and self.reading.fc2_bias is Presence.YES:
            yield "fc2.bias", (self.out,)
        if self.reading.output_norm is OutputNorm.LAYER:
            yield from _of_norm("norm", self.out, running=False)
        for place in ("1", "2") if self.channel else ():
            yield from (
                self._of_phi(f"act.phi{place}") if self.plain else self._of_agelu(f"act.agelu{place}", self.units)
            )
        if not self.channel:
            yield from self._of_phi("act")
        if self.concat_norm is not ConcatNorm.NONE:
            yield from _of_norm("act.norm", self.inner, running=self.concat_norm is ConcatNorm.BATCH)
        if self.spatial:
            yield from self._of_spatial_part()

    def _of_spatial_part(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        yield "spatial.conv.weight", (self.inner, 1, self.side, self.side)
        if self.reading.depthwise_bias is Presence.YES:
            yield "spatial.conv.bias", (self.inner,)
        if self.reading.depthwise_norm is DepthwiseNorm.BATCH:
            yield from _of_norm("spatial.norm", self.inner, running=True)
        if self.reading.depthwise_activation is DepthwiseActivation.AGELU:
            yield from self._of_agelu("spatial.act", self.inner)

    def _of_agelu(self, path: str, width: int) -> Iterator[tuple[str, tuple[int, ...]]]:
        shared = self.reading.agelu_parameters is AGeLUParameters.PER_LAYER
        for name in ("alpha", "beta", "gamma", "theta"):
            yield f"{path}.{name}", (1 if shared else width,)
        yield from self._of_phi(f"{path}.phi")

    def _of_phi(self, path: str) -> Iterator[tuple[str, tuple[int, ...]]]:
        if self.base is PRELU:  # the only one that learns: a slope for each activation of a block
            yield f"{path}.weight", (1,)


def _of_norm(path: str, width: int, *, running: bool) -> Iterator[tuple[str, tuple[int, ...]]]:
    for name in ("weight", "bias", *(("running_mean", "running_var") if running else ())):
        yield f"{path}.{name}", (width,)
    if running:
        yield f"{path}.num_batches_tracked", ()


SIZES: tuple[Size, ...] = ((2, 2), (2, 3), (3, 2), (1, 2), (1, 1))
READINGS = st.builds(
    Reading, *map(st.sampled_from, (
        AGeLUParameters, Presence, Presence, ConcatNorm, OutputNorm, Presence, DepthwiseNorm, DepthwiseActivation,
        Presence, ClassToken,
    )),
)  # fmt: skip


def block_cases(*parts: Part | None) -> st.Strategy[Block]:
    """Blocks of any reading with one of some parts, of up to 3 channels and 2 hidden units, on grids of up to 2 x 3."""

    def on(layout: Layout, size: Size, part: Part | None) -> st.Strategy[Block]:
        prefixes = (1, 2) if layout is Layout.CLASS_TOKEN else (0,)
        grids = (size, size, None, (size[1], size[0] + 1)) if layout in (Layout.TOKENS, Layout.CLASS_TOKEN) else (None,)
        return st.builds(
            Block, st.just(layout), st.just(size), st.sampled_from(prefixes), st.sampled_from(grids),
            st.integers(1, 3), st.sampled_from((2, 1, None)), st.sampled_from((2, None, 3)), READINGS, st.just(part),
            st.just(False) if part is Part.SPATIAL else st.sampled_from((False, False, True)),
            st.sampled_from((3, None, 1, 5)), st.sampled_from((RELU, PRELU, SOFTPLUS, PRELU, GELU, None)),
            st.sampled_from((None, None, None, Raise)),
            st.sampled_from((None, True, (True, False), (False, True), False)),
            st.sampled_from((None, 0.0, 0.0, 0.0, 1.0, (0.0, 1.0), (1.0, 0.0))), st.booleans(),
        )  # fmt: skip

    kinds = st.tuples(st.sampled_from(Layout), st.sampled_from(SIZES), st.sampled_from(parts))
    return kinds.flatmap(lambda kind: on(*kind))
