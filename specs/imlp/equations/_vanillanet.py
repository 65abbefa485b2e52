"""VanillaNet's block: a 1x1 convolution to twice the channels, max pooling, and the series activation of Eq. 10."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from torch import Tensor

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.functions import relu
from imlp_audit.equations.rounded import Rounded, total
from imlp_audit.equations.strategies import Matrix, Vector, matrices, nonzero, numbers, vectors
from imlp_audit.models.host import BuildRequest
from imlp_audit.models.hosts import VanillaBlock
from imlp_audit.models.vanillanet import VanillaNetBlock, build_vanilla_block

from ._dw_block import Norm, load_norms
from ._series import behind_another

EPS = 1e-6  # of the norm behind the series activation
Grid = list[list[Rounded]]


class Made(StrEnum):
    """How a block is made: with its default n, or as a spec's host with an n or without one."""

    DIRECTLY = "directly, with its default"
    HOST = "as a host"
    HOST_DEFAULT = "as a host, with its default"


@dataclass(frozen=True)
class Block:
    """C maps of H x W numbers, W and b of the 1x1 convolution, and a_{i,j,c} and the norms of 2C channels."""

    made: Made
    n: int
    x: tuple[Matrix, ...]
    w: Matrix
    b: Vector
    a: tuple[Matrix, ...]
    norms: tuple[Norm, ...]

    @property
    def size(self) -> tuple[int, int]:
        """H and W."""
        return len(self.x[0]), len(self.x[0][0])

    @property
    def fits(self) -> bool:
        """Whether the pooled grid is no smaller than the kernel."""
        return 2 * self.n + 1 <= min(side // 2 for side in self.size)

    def module(self) -> VanillaNetBlock:
        """Return the package's block without its numbers; raises BuildError where its kernel is refused."""
        width = len(self.x)
        match self.made:
            case Made.DIRECTLY:
                return VanillaNetBlock(width, self.size)
            case Made.HOST:
                return build_vanilla_block(width, self.n, self.size)
            case Made.HOST_DEFAULT:
                made = VanillaBlock(width=width).build(BuildRequest(self.size))
                assert isinstance(made, VanillaNetBlock)
                return made

    def computed(self, arithmetic: Arithmetic) -> Tensor:
        """Return what the package's block makes of x, of shape (2C, H/2, W/2)."""
        block = self.module()
        arithmetic.place(block)
        arithmetic.put(block, "conv.weight", [[[[entry]] for entry in row] for row in self.w])
        arithmetic.put(block, "conv.bias", self.b)
        arithmetic.put(block, "act.conv.weight", [[kernel] for kernel in self.a])
        load_norms(self.norms, block.act.norm, arithmetic)
        return behind_another(block, arithmetic.tensor(self.x)[None])

    def printed(self, arithmetic: Arithmetic) -> list[Grid]:
        """Return Eq. 10 without b_c, and its norm, of W x + b after max pooling."""
        maps = zip(self.w, self.b, self.a, self.norms, strict=True)
        pooled = ((_pooled(self._mixed(row, b, arithmetic)), a, norm) for row, b, a, norm in maps)
        return [summed(grid, a, norm, self.n, EPS, relu, arithmetic) for grid, a, norm in pooled]

    def _mixed(self, row: Vector, b: float, arithmetic: Arithmetic) -> Grid:
        height, width = self.size
        pairs = [(arithmetic.number(entry), x) for entry, x in zip(row, self.x, strict=True)]
        return [[total(entry * x[h][w] for entry, x in pairs) + b for w in range(width)] for h in range(height)]

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        inputs = {"block": self.made.value, "n": self.n, "x": self.x, "W": self.w, "b": self.b}
        return {**inputs, "a": self.a, "norms": self.norms}


def summed(
    grid: Grid,
    a: Matrix,
    norm: Norm,
    n: int,
    eps: float,
    phi: Callable[[Rounded], Rounded],
    arithmetic: Arithmetic,
) -> Grid:
    """Return r times the sum of a_{i,j} phi(x_{h+i,w+j}) over what is on the grid, plus s - m r."""
    bent = [[phi(x) for x in row] for row in grid]

    def at(h: int, w: int) -> Rounded:
        taps = (
            arithmetic.number(a[i - h + n][j - w + n]) * bent[i][j]
            for i in range(max(0, h - n), min(len(grid), h + n + 1))
            for j in range(max(0, w - n), min(len(grid[0]), w + n + 1))
        )
        return norm.of(total(taps), eps, arithmetic)

    return [[at(h, w) for w in range(len(grid[0]))] for h in range(len(grid))]


def _pooled(grid: Grid) -> Grid:
    """Return the largest of each 2 x 2 numbers; of a last row or column without a partner, nothing."""
    rows, columns = range(0, len(grid) - 1, 2), range(0, len(grid[0]) - 1, 2)
    return [[_largest([*grid[h][w : w + 2], *grid[h + 1][w : w + 2]]) for w in columns] for h in rows]


def _largest(of: list[Rounded]) -> Rounded:
    """Return the largest of numbers, which errs by no more than the one that errs most."""
    largest = max(of, key=lambda number: number.value)
    return Rounded(largest.value, abs(largest.value), 0, max(number.error for number in of), largest.unit)


def tiny_norms(channels: int) -> st.Strategy[tuple[Norm, ...]]:
    """Return a batch norm for each channel, some of whose variances are no larger than what is added to them."""
    variances = st.sampled_from((1.0, 2.0**-20, 0.0, 0.25))
    return st.tuples(*[st.builds(Norm, nonzero(), numbers(), numbers(), variances)] * channels)


def blocks() -> st.Strategy[Block]:
    """Blocks of up to two channels; directly made ones, and hosts about as small as the kernel allows, or smaller."""

    def of(made: Made, n: int, width: int, size: tuple[int, int]) -> st.Strategy[Block]:
        return st.builds(
            Block, st.just(made), st.just(n), st.tuples(*[matrices(*size)] * width),
            matrices(2 * width, width, nonzero()), vectors(2 * width),
            st.tuples(*[matrices(2 * n + 1, 2 * n + 1, nonzero())] * (2 * width)), tiny_norms(2 * width),
        )  # fmt: skip

    small = st.tuples(st.integers(2, 5), st.integers(2, 5))
    near = st.tuples(st.integers(5, 8), st.integers(5, 8))
    default = st.sampled_from(((14, 15), (13, 14), (14, 12)))
    directly = st.tuples(st.just(Made.DIRECTLY), st.just(3), st.integers(1, 2), small)
    host = st.tuples(st.just(Made.HOST), st.just(1), st.integers(1, 2), near)
    plain_host = st.tuples(st.just(Made.HOST_DEFAULT), st.just(3), st.just(1), default)
    shapes = st.one_of(directly, host, directly, host, directly, host, plain_host)
    return shapes.flatmap(lambda shape: of(*shape))
