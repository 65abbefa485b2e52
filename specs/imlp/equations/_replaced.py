"""The MLP of a host, and the IMLP block that a spec puts in its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from torch import Tensor, nn

from imlp_audit.equations import draw as st
from imlp_audit.models.blocks import Activation, ImlpRecipe, Part
from imlp_audit.models.imlp import Imlp, imlp_for
from imlp_audit.models.recipe import Replacement

from ._block_cases import READINGS, SIZES, Block
from ._layouts import Layout
from ._series import GELU, PRELU, RELU, SOFTPLUS, Phi

Written = Mapping[str, object]


class HostMlp(nn.Module):
    """An MLP with the parts that timm's has: two layers, an activation, and dropout behind it and at the end."""

    def __init__(
        self, width: int, hidden: int, outputs: int, bias: tuple[bool, bool], drop: tuple[float, float], *, conv: bool
    ) -> None:
        super().__init__()
        layer = partial(nn.Conv2d, kernel_size=1) if conv else nn.Linear
        self.fc1: nn.Linear | nn.Conv2d = layer(width, hidden, bias=bias[0])
        self.act, self.drop1 = nn.GELU(), nn.Dropout(drop[0])
        self.fc2: nn.Linear | nn.Conv2d = layer(hidden, outputs, bias=bias[1])
        self.drop2 = nn.Dropout(drop[1])

    def forward(self, x: Tensor) -> Tensor:
        """Return the MLP of x."""
        y: Tensor = self.drop2(self.fc2(self.drop1(self.act(self.fc1(x)))))
        return y


@dataclass(frozen=True)
class Replaced(Block):
    """A block that takes the place of an MLP of C' = 4 C; `written` is what a spec says about it."""

    written: Written
    activation: Activation | None

    @property
    def host(self) -> HostMlp:
        """The MLP that is replaced, in training where dropout is."""
        assert isinstance(self.bias, tuple)
        assert isinstance(self.drop, tuple)
        widths = (self.width, 4 * self.width, self.out)
        return HostMlp(*widths, self.bias, self.drop, conv=self.channels_first).train(self.dropping)

    def make(self) -> Imlp:
        """Return what the package puts in the place of the MLP."""
        block = Replacement.model_validate({"imlp": self.written}).block
        assert isinstance(block, ImlpRecipe)
        return imlp_for(self.host, block, self.reading, self.activation, grid=self.grid, prefix_tokens=self.prefix)


PHIS: Mapping[Activation | None, Phi] = {
    None: GELU, Activation.GELU: GELU, Activation.RELU: RELU, Activation.SOFTPLUS: SOFTPLUS, Activation.PRELU: PRELU
}  # fmt: skip
# What a spec writes, and r, n, the part and whether AGeLU is GeLU.
_RECIPES: tuple[tuple[Written, float, int, Part, bool], ...] = (
    ({}, 2, 3, Part.CHANNEL_AND_SPATIAL, False),
    ({"kernel": 5}, 2, 5, Part.CHANNEL_AND_SPATIAL, False),
    ({"part": "channel"}, 2, 3, Part.CHANNEL, False),
    ({"ratio": 4, "part": "spatial"}, 4, 3, Part.SPATIAL, False),
    ({"plain": True}, 2, 3, Part.CHANNEL_AND_SPATIAL, True),
    ({"ratio": 1.5, "kernel": 1}, 1.5, 1, Part.CHANNEL_AND_SPATIAL, False),
    ({"ratio": 0.5}, 0.5, 3, Part.CHANNEL_AND_SPATIAL, False),
)


def replaced() -> st.Strategy[Replaced]:
    """Blocks in the place of MLPs of up to 3 channels, as the rows of Tables 1, 2, 3 and 5 have them."""

    def of(
        layout: Layout, recipe: tuple[Written, float, int, Part, bool], width: int, activation: Activation | None
    ) -> st.Strategy[Replaced]:
        written, ratio, kernel, part, plain = recipe
        prefixes = (1, 2) if layout is Layout.CLASS_TOKEN else (0,)
        flags = st.tuples(st.booleans(), st.booleans())
        drops = st.sampled_from(((0.0, 0.0), (0.0, 0.0), (1.0, 0.0), (0.0, 1.0)))

        def on(size: tuple[int, int]) -> st.Strategy[Replaced]:
            return st.builds(
                Replaced, st.just(layout), st.just(size), st.sampled_from(prefixes), st.just(size), st.just(width),
                st.just(int(ratio * width)), st.sampled_from((width, 1, 2)), READINGS, st.just(part), st.just(plain),
                st.just(kernel), st.just(PHIS[activation]), st.just(None), flags, drops, st.booleans(),
                st.just(written), st.just(activation),
            )  # fmt: skip

        return st.sampled_from(SIZES).flatmap(on)

    kinds = st.tuples(
        st.sampled_from(Layout), st.sampled_from(_RECIPES), st.integers(1, 3), st.sampled_from(tuple(PHIS))
    )
    return kinds.flatmap(lambda kind: of(*kind))
