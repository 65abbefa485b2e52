"""MLP-Mixer: the sizes of a layer, and its mixing steps, as weights and as the package's modules with these weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from torch import Tensor, nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.draw import Strategy
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.functions_norm import layer_norm
from imlp_audit.equations.matrix import RoundedMatrix, add
from imlp_audit.equations.rounded import Rounded
from imlp_audit.equations.strategies import Matrix, Vector, matrices, numbers, vectors
from imlp_audit.models.mixer import ChannelMixing, MixerLayer, TokenMixing

EPSILON = 1e-6  # LayerNorm's, in the module; no text names one
HIDDEN = st.integers(1, 3)
NUMBERS = numbers()
Module = TypeVar("Module", bound=nn.Module)


@dataclass(frozen=True)
class Sizes:
    """S tokens, C channels, and the hidden widths D_S and D_C."""

    s: int
    c: int
    d_s: int
    d_c: int

    def layer(self) -> MixerLayer:
        """Return the package's layer of these sizes."""
        return MixerLayer(self.s, self.c, self.d_s, self.d_c)

    def symbols(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {"S": self.s, "C": self.c, "D_S": self.d_s, "D_C": self.d_c}


def sizes(largest: int = 5) -> Strategy[Sizes]:
    """Sizes from 1 up."""
    number = st.integers(1, largest)
    return st.builds(Sizes, number, number, number, number)


@dataclass(frozen=True)
class Mixing:
    """A table of S tokens (rows) by C channels, the MLP's first and second matrix, and its biases if it has them."""

    table: Matrix
    first: Matrix
    second: Matrix
    first_bias: Vector = ()
    second_bias: Vector = ()

    @property
    def sizes(self) -> tuple[int, int, int]:
        """S, C and the hidden width."""
        return len(self.table), len(self.table[0]), len(self.first)

    def named_sizes(self, hidden: str) -> Mapping[str, int]:
        """Return S, C and the hidden width, which is D_S or D_C, by their names."""
        return dict(zip(("S", "C", hidden), self.sizes, strict=True))

    def mlp(self, x: Sequence[Rounded], arithmetic: Arithmetic) -> list[Rounded]:
        """Return second * GELU(first * x + first_bias) + second_bias for a vector x."""
        hidden = _affine(self.first, self.first_bias, x, arithmetic)
        return _affine(self.second, self.second_bias, [gelu(h) for h in hidden], arithmetic)

    def token_mixing(self, arithmetic: Arithmetic) -> TokenMixing:
        """Return the package's token mixing with these weights."""
        tokens, channels, hidden = self.sizes
        build = TokenMixing if self.first_bias else partial(TokenMixing, bias=False)
        return fill(lambda: build(tokens, channels, hidden), self._weights(), arithmetic)

    def channel_mixing(self, arithmetic: Arithmetic) -> ChannelMixing:
        """Return the package's channel mixing with these weights."""
        _, channels, hidden = self.sizes
        build = ChannelMixing if self.first_bias else partial(ChannelMixing, bias=False)
        return fill(lambda: build(channels, hidden), self._weights(), arithmetic)

    def _weights(self) -> dict[str, object]:
        channels = len(self.table[0])
        weights: dict[str, object] = {"norm.weight": (1.0,) * channels, "norm.bias": (0.0,) * channels}
        weights |= {"mlp.fc1.weight": self.first, "mlp.fc2.weight": self.second}
        if self.first_bias:
            weights |= {"mlp.fc1.bias": self.first_bias, "mlp.fc2.bias": self.second_bias}
        return weights


def fill(build: Callable[[], Module], weights: dict[str, object], arithmetic: Arithmetic) -> Module:
    """Build a module with weights that a case gives: every one of them, each of the shape that the module has."""
    module = build()
    arithmetic.load(module, weights)
    return module.eval()


def run(module: nn.Module, table: Matrix, arithmetic: Arithmetic) -> Tensor:
    """Apply a module to one table."""
    output: Tensor = module(arithmetic.tensor(table)[None])[0]
    return output


def normalise(table: RoundedMatrix) -> RoundedMatrix:
    """LayerNorm over channels, without a learned scale: each row on its own."""
    return table.map_rows(lambda row: layer_norm(row, EPSILON))


def mix_tokens(x: RoundedMatrix, mixing: Mixing, arithmetic: Arithmetic) -> RoundedMatrix:
    """U: column i is X_{*,i} + W_2 sigma(W_1 LayerNorm(X)_{*,i}), with biases where the step has them."""
    return x + normalise(x).T.map_rows(lambda normal_i: mixing.mlp(normal_i, arithmetic)).T


def mix_channels(u: RoundedMatrix, mixing: Mixing, arithmetic: Arithmetic) -> RoundedMatrix:
    """Y: row j is U_{j,*} + W_4 sigma(W_3 LayerNorm(U)_{j,*}), with biases where the step has them."""
    return u + normalise(u).map_rows(lambda normal_j: mixing.mlp(normal_j, arithmetic))


def token_mixings(
    tokens: Strategy[int],
    channels: Strategy[int],
    hidden: Strategy[int] = HIDDEN,
    elements: Strategy[float] = NUMBERS,
) -> Strategy[Mixing]:
    """Token mixing without biases: matrices D_S x S and S x D_S; all are of the elements given."""
    sizes = st.tuples(tokens, channels, hidden)
    return sizes.flatmap(lambda size: _mixings((size[0], size[1]), size[0], size[2], elements))


def channel_mixings(
    tokens: Strategy[int],
    channels: Strategy[int],
    hidden: Strategy[int] = HIDDEN,
    elements: Strategy[float] = NUMBERS,
) -> Strategy[Mixing]:
    """Channel mixing without biases: matrices D_C x C and C x D_C; all are of the elements given."""
    sizes = st.tuples(tokens, channels, hidden)
    return sizes.flatmap(lambda size: _mixings((size[0], size[1]), size[1], size[2], elements))


def with_biases(mixing: Mixing) -> Strategy[Mixing]:
    """Add any biases to a mixing step."""
    biases = st.tuples(vectors(len(mixing.first)), vectors(len(mixing.second)))
    return biases.map(lambda pair: Mixing(mixing.table, mixing.first, mixing.second, *pair))


def _mixings(table: tuple[int, int], width: int, hidden: int, elements: Strategy[float]) -> Strategy[Mixing]:
    return st.builds(
        Mixing, matrices(*table, elements), matrices(hidden, width, elements), matrices(width, hidden, elements)
    )


def _affine(matrix: Matrix, bias: Vector, x: Sequence[Rounded], arithmetic: Arithmetic) -> list[Rounded]:
    """Return the vector matrix * x + bias."""
    products = arithmetic.matrix(matrix) @ list(x)
    return add(products, arithmetic.vector(bias)) if bias else products
