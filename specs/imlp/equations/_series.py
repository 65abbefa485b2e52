"""Eq. 10 as it is printed: an activation, and a weighted sum of it over neighbouring positions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from imlp_audit.equations import draw as st
from imlp_audit.equations import functions
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.rounded import Rounded, total
from imlp_audit.equations.strategies import Matrix, Vector, matrices, nonzero, vectors
from imlp_audit.models.vanillanet import SeriesActivation


@dataclass(frozen=True)
class Phi:
    """An activation phi, as a module and in rounded numbers."""

    module: type[nn.Module]
    rounded: functions.Activation

    def __str__(self) -> str:
        return self.module.__name__


RELU = Phi(nn.ReLU, functions.relu)
GELU = Phi(nn.GELU, functions.gelu)
SOFTPLUS = Phi(nn.Softplus, functions.softplus)
PRELU = Phi(nn.PReLU, partial(functions.prelu, slope=0.25))  # with the slope that it starts with


@dataclass(frozen=True)
class Series:
    """The symbols of Eq. 10; grids and weights channel by channel, a[c][i + n][j + n] for a_{i,j,c}."""

    n: int
    phi: Phi
    b: Vector
    x: tuple[Matrix, ...]
    a: tuple[Matrix, ...]

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of the grid."""
        return len(self.x[0]), len(self.x[0][0])

    def sizes(self) -> Mapping[str, int]:
        """Return the sizes by the paper's symbols."""
        return {"n": self.n, "channel": len(self.b), "H": self.size[0], "W": self.size[1]}

    def shifted(self, arithmetic: Arithmetic) -> Tensor:
        """Return x + b_c, of shape (1, channels, H, W)."""
        return (arithmetic.tensor(self.x) + arithmetic.tensor(self.b)[:, None, None])[None]

    def weight(self, arithmetic: Arithmetic) -> Tensor:
        """Return a as the weight of a depthwise convolution, entry by entry."""
        return arithmetic.tensor(self.a)[:, None]

    def module(self, arithmetic: Arithmetic) -> SeriesActivation:
        """Return VanillaNet's series activation with the weights a; its norm keeps what comes in, exactly."""
        series = SeriesActivation(len(self.b), self.n, self.phi.module)
        series.norm.eps = 0.0
        arithmetic.place(series)
        arithmetic.put(series, "conv.weight", [[kernel] for kernel in self.a])
        return series

    def convolved(self, arithmetic: Arithmetic) -> Tensor:
        """Return VanillaNet's series activation of x + b_c, of shape (channels, H, W)."""
        return behind_another(self.module(arithmetic), self.shifted(arithmetic))

    def printed(
        self, arithmetic: Arithmetic, indices: Iterable[int], rows: range, columns: range
    ) -> list[list[list[Rounded]]]:
        """Return Eq. 10 for the given h and w, with i and j from `indices`; terms beyond the grid are left out."""
        taps = [(i, j) for i in indices for j in indices]
        return [[[self._at(arithmetic, taps, h, w, c) for w in columns] for h in rows] for c in range(len(self.b))]

    def _at(self, arithmetic: Arithmetic, taps: list[tuple[int, int]], h: int, w: int, c: int) -> Rounded:
        (height, width), number = self.size, arithmetic.number
        return total(
            number(self.a[c][i + self.n][j + self.n]) * self.phi.rounded(number(self.x[c][i + h][j + w]) + self.b[c])
            for i, j in taps
            if 0 <= i + h < height and 0 <= j + w < width
        )

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {"n": self.n, "phi": self.phi, "x": self.x, "a": self.a, "b": self.b}


def behind_another(module: nn.Module, x: Tensor) -> Tensor:
    """Return what a module makes of x (1, channels, H, W) as the second of a batch of two."""
    y: Tensor = module(torch.cat((x.flip(-1) + 1, x)))[1]
    return y


def interior(case: Series) -> tuple[range, range]:
    """Return the h and w from which no index of Eq. 10 leaves the grid."""
    height, width = case.size
    return range(case.n, height - case.n), range(case.n, width - case.n)


def series(
    smallest: Callable[[int], int],
    *,
    phis: tuple[Phi, ...] = (RELU, GELU),
    biases: st.Strategy[float] | None = None,
    largest: int = 2,
) -> st.Strategy[Series]:
    """Return examples of n up to `largest`, one or two channels, and sides of the grid from `smallest(n)` to one more.

    What is false for n = 1 is best shown by n = 1: the search finds no way from a large grid to a small one.
    """

    def of(n: int, channels: int, height: int, width: int) -> st.Strategy[Series]:
        return st.builds(
            Series,
            st.just(n),
            st.sampled_from(phis),
            vectors(channels, biases),
            st.tuples(*[matrices(height, width)] * channels),
            st.tuples(*[matrices(2 * n + 1, 2 * n + 1, nonzero())] * channels),
        )

    def shapes(n: int) -> st.Strategy[tuple[int, int, int, int]]:
        side = st.integers(smallest(n), smallest(n) + 1)
        return st.tuples(st.just(n), st.integers(1, 2), side, side)

    return st.integers(1, largest).flatmap(shapes).flatmap(lambda shape: of(*shape))
