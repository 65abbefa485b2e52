"""Networks for images: patches, blocks and a classifier, from their sizes on, and the same written out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial

from torch import nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.matrix import RoundedMatrix
from imlp_audit.equations.mixer import EPSILON
from imlp_audit.equations.strategies import Vector, vectors
from imlp_audit.models.blocks import Gate
from imlp_audit.models.host import BuildRequest
from imlp_audit.models.hosts import Gmlp, Mixer
from imlp_audit.models.recipe import Recipe

from ._gmlp_formula import BlockKind
from ._stages import Stage, Staged
from ._text_networks import as_written
from ._weights import Formulas, Shapes, Weights, linear, norm, settled, weights

Grid = tuple[int, int]


@dataclass(frozen=True)
class Kind(ABC):
    """A network for images by its sizes, the rows and columns of patches, and the number of classes."""

    host: Mixer | Gmlp
    grid: Grid
    classes: int

    @property
    def tokens(self) -> int:
        """S."""
        return self.grid[0] * self.grid[1]

    @property
    def size(self) -> tuple[int, int]:
        """H and W."""
        return self.grid[0] * self.host.patch, self.grid[1] * self.host.patch

    @abstractmethod
    def build(self) -> nn.Module:
        """Return the package's network."""

    @abstractmethod
    def block_shapes(self, name: str) -> Shapes:
        """Return the shapes of a block's parameters."""

    @abstractmethod
    def block(self, name: str, of: Formulas, x: RoundedMatrix) -> RoundedMatrix:
        """Return what a block makes of X, written out."""

    def of_recipe(self, key: str) -> nn.Module:
        """Return what a recipe of the host builds, once it is given the size of these images."""
        written = {key: as_written(self.host)}
        recipe = Recipe.of(**written, image=self.host.patch, classes=self.classes).with_image(self.size)
        return recipe.host.build(BuildRequest(recipe.image, recipe.classes))

    def shapes(self) -> Shapes:
        """Return the shapes of all parameters."""
        c, p = self.host.width, self.host.patch
        shapes: Shapes = {"stem.proj.weight": (c, 3, p, p), "stem.proj.bias": (c,)}
        for layer in range(self.host.layers):
            shapes |= self.block_shapes(f"blocks.{layer}")
        return shapes | norm("norm", c) | linear("head", c, self.classes)


@dataclass(frozen=True)
class MixerKind(Kind):
    """MLP-Mixer."""

    host: Mixer

    def build(self) -> nn.Module:
        """Return the package's network."""
        return self.of_recipe("mixer")

    def block_shapes(self, name: str) -> Shapes:
        """Return the shapes of W_1 to W_4, their biases and two norms."""
        c, s = self.host.width, self.tokens
        shapes: Shapes = {}
        widths = ("token_mixing", s, self.host.tokens_hidden), ("channel_mixing", c, self.host.channels_hidden)
        for step, width, hidden in widths:
            shapes |= norm(f"{name}.{step}.norm", c)
            shapes |= linear(f"{name}.{step}.mlp.fc1", width, hidden) | linear(f"{name}.{step}.mlp.fc2", hidden, width)
        return shapes

    def block(self, name: str, of: Formulas, x: RoundedMatrix) -> RoundedMatrix:
        """Return Y = U + MLP(norm(U)) with U = X + MLP(norm(X)')', each MLP with biases."""
        u = settled(x + _mlp(of.norm(x, f"{name}.token_mixing.norm", EPSILON).T, f"{name}.token_mixing.mlp", of).T)
        return settled(u + _mlp(of.norm(u, f"{name}.channel_mixing.norm", EPSILON), f"{name}.channel_mixing.mlp", of))


def _mlp(x: RoundedMatrix, name: str, of: Formulas) -> RoundedMatrix:
    return of.affine(of.affine(x, f"{name}.fc1").map(gelu), f"{name}.fc2")


@dataclass(frozen=True)
class GmlpKind(Kind):
    """GMLP on images."""

    host: Gmlp

    def build(self) -> nn.Module:
        """Return the package's network."""
        return self.of_recipe("gmlp")

    def block_shapes(self, name: str) -> Shapes:
        """Return the shapes of a gMLP block."""
        return self._block.shapes(name)

    def block(self, name: str, of: Formulas, x: RoundedMatrix) -> RoundedMatrix:
        """Return what a gMLP block makes of X."""
        return self._block.printed(name, of, x)

    @property
    def _block(self) -> BlockKind:
        return BlockKind(self.tokens, self.host.width, self.host.hidden, self.host.gate, EPSILON)


@dataclass(frozen=True)
class ImageNetwork:
    """A network, the pixels of two images (2 x 3 x H x W), and its weights."""

    kind: Kind
    images: Vector
    weights: Weights

    def judge(self, arithmetic: Arithmetic) -> Trial:
        """Hold the package's network against patches, blocks, a last norm, the mean over patches, a linear layer."""
        images = arithmetic.tensor(self.images).reshape(2, 3, *self.kind.size)
        stages = self._stages(self.weights.in_formulas(arithmetic), arithmetic)
        staged = Staged(self.kind.build(), self.weights, images, stages, ("head",))
        return staged.judge(arithmetic, self.shown())

    def _stages(self, of: Formulas, arithmetic: Arithmetic) -> list[Stage]:
        block = self.kind.block
        blocks = [f"blocks.{layer}" for layer in range(self.kind.host.layers)]
        reads = ["stem", *blocks]
        return [
            Stage("stem", None, lambda _: of.affine(self._patches(1, arithmetic), "stem.proj")),
            *(Stage(name, read, partial(block, name, of)) for name, read in zip(blocks, reads, strict=False)),
            Stage("norm", reads[-1], lambda x: of.norm(x, "norm", EPSILON)),
            Stage("head", "norm", lambda x: of.affine(of.mean(x), "head")),
        ]

    def _patches(self, image: int, arithmetic: Arithmetic) -> RoundedMatrix:
        """Return the pixels under each patch, row by row of patches."""
        (height, width), patch = self.kind.size, self.kind.host.patch

        def pixels(top: int, left: int) -> list[float]:
            planes = [(image * 3 + channel) * height for channel in range(3)]
            rows = [(plane + top + y) * width + left for plane in planes for y in range(patch)]
            return [pixel for row in rows for pixel in self.images[row : row + patch]]

        corners = [(top, left) for top in range(0, height, patch) for left in range(0, width, patch)]
        return arithmetic.matrix([pixels(*corner) for corner in corners])

    def shown(self) -> dict[str, object]:
        """Return what a counterexample shows; the weights are too many."""
        return {"network": repr(self.kind.host), "H, W": self.kind.size, "classes": self.kind.classes}


_LAYERS = st.sampled_from((2, 1, 3))
_PATCHES = st.integers(1, 2)
_WIDTHS = st.integers(3, 4)  # of two channels, LayerNorm leaves little more than which is the larger
_GRIDS = st.sampled_from(((1, 2), (3, 1), (2, 3)))
_CLASSES = st.integers(1, 2)


def mixers() -> st.Strategy[ImageNetwork]:
    """Mixers of one to three layers, on patches of one or two pixels a side."""
    hidden = st.integers(1, 4)
    sizes = st.builds(
        Mixer, layers=_LAYERS, patch=_PATCHES, width=_WIDTHS, tokens_hidden=hidden, channels_hidden=hidden
    )
    return st.builds(MixerKind, sizes, _GRIDS, _CLASSES).flatmap(_networks)


def gmlps() -> st.Strategy[ImageNetwork]:
    """GMLPs of one to three blocks with any gate, on patches of one or two pixels a side."""
    hidden, gate = st.sampled_from((6, 4)), st.sampled_from(Gate)
    sizes = st.builds(Gmlp, layers=_LAYERS, patch=_PATCHES, width=_WIDTHS, hidden=hidden, gate=gate)
    return st.builds(GmlpKind, sizes, _GRIDS, _CLASSES).flatmap(_networks)


def _networks(kind: Kind) -> st.Strategy[ImageNetwork]:
    height, width = kind.size
    return st.builds(ImageNetwork, st.just(kind), vectors(2 * 3 * height * width), weights(kind.shapes()))
