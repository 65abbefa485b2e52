"""What depends on what: which derivatives of a function's outputs by its inputs are exactly zero.

For operations on a table of tokens by channels, they show what the operation mixes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt

import torch
import torch.nn.functional as F
from torch import Tensor

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.draw import Strategy
from imlp_audit.equations.mixer import fill
from imlp_audit.equations.strategies import Matrix, matrices, nonzero
from imlp_audit.models.attention import SelfAttention

Operation = Callable[[Tensor], Tensor]
Kernel = tuple[tuple[Matrix, ...], ...]


def jacobian(function: Operation, x: Tensor) -> Tensor:
    """Return d function(x) / d x, of the output's shape followed by the input's."""
    derivatives: Tensor = torch.autograd.functional.jacobian(function, x)  # type: ignore[no-untyped-call]
    return derivatives


def depends(function: Operation, x: Tensor) -> Tensor:
    """Return, in the same shape, which outputs have a derivative by which inputs that is not exactly zero.

    Where no path leads from an input to an output, backpropagation adds up exact zeros alone.
    """
    return jacobian(function, x) != 0


@dataclass(frozen=True)
class Mixes:
    """Whether some output depends on an input of another token, and some on one of another channel."""

    tokens: bool
    channels: bool

    def __str__(self) -> str:
        return {
            (False, False): "neither",
            (True, False): "tokens",
            (False, True): "channels",
            (True, True): "tokens and channels",
        }[self.tokens, self.channels]


BOTH, ONLY_TOKENS, ONLY_CHANNELS = Mixes(True, True), Mixes(True, False), Mixes(False, True)


def mixes(operation: Operation, table: Tensor) -> Mixes:
    """Return what an operation that maps S x C to S x C mixes at this table."""
    links = depends(operation, table)
    return Mixes(_to_another(links.any(3).any(1)), _to_another(links.any(2).any(0)))


def _to_another(links: Tensor) -> bool:
    """Whether an output (row) depends on an input (column) that is not its own."""
    own = torch.eye(len(links), dtype=torch.bool, device=links.device)
    return bool((links & ~own).any())


def on_grid(operation: Operation) -> Operation:
    """Make an operation on images (1, C, side, side) one on tables of side^2 tokens by C channels."""

    def on_table(table: Tensor) -> Tensor:
        side = isqrt(len(table))
        return operation(table.T.reshape(1, -1, side, side)).flatten(2)[0].T

    return on_table


def convolution(kernel: Kernel, arithmetic: Arithmetic) -> Operation:
    """A convolution that keeps the grid, by zero padding."""
    weight = arithmetic.tensor(kernel)
    before, after = weight.shape[-1] // 2, (weight.shape[-1] - 1) // 2
    return on_grid(lambda image: F.conv2d(F.pad(image, (before, after) * 2), weight))


def kernels(sizes: Strategy[int]) -> Strategy[Kernel]:
    """N x N kernels between two channels, none of whose weights is 0."""
    return sizes.flatmap(lambda n: st.tuples(*[st.tuples(*[matrices(n, n, nonzero())] * 2)] * 2))


@dataclass(frozen=True)
class Averaging:
    """Self-attention whose queries are 0: every token gets the mean of all values, projected."""

    table: Matrix
    values: Matrix
    projection: Matrix

    def attention(self, arithmetic: Arithmetic) -> Operation:
        """Return the package's attention with these weights."""
        channels = len(self.values)
        zeros = ((0.0,) * channels,) * (2 * channels)
        weights: dict[str, object] = {"qkv.weight": (*zeros, *self.values), "proj.weight": self.projection}
        module = fill(lambda: SelfAttention(channels, bias=False), weights, arithmetic)
        return lambda table: module(table[None])[0]


def averagings() -> Strategy[Averaging]:
    """Two or three tokens of two channels; values and projection of one sign, so that no two products cancel."""
    positive = matrices(2, 2, st.sampled_from([1.0, 2.0, 0.5]))
    return st.integers(2, 3).flatmap(lambda tokens: st.builds(Averaging, matrices(tokens, 2), positive, positive))
