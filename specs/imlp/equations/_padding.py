"""Eq. 10 with x continued beyond the grid in the way in which a convolution's padding continues its input."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from torch import Tensor, nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.rounded import Rounded
from imlp_audit.equations.strategies import Matrix

from ._series import Series, interior

Padding = Literal["zeros", "replicate", "circular", "reflect"]
# whose value stands at an index beyond an axis of some size
_INDICES: dict[Padding, Callable[[int, int], int]] = {
    "replicate": lambda index, size: min(max(index, 0), size - 1),
    "circular": lambda index, size: index % size,
    "reflect": lambda index, size: size - 1 - abs(size - 1 - abs(index)),
}


@dataclass(frozen=True)
class Padded:
    """The symbols of Eq. 10, and how x goes on beyond the grid."""

    padding: Padding
    series: Series

    def sizes(self) -> Mapping[str, int | str]:
        """Return the sizes by the paper's symbols, and the padding."""
        return {"padding": self.padding, **self.series.sizes()}

    def convolved(self, arithmetic: Arithmetic) -> Tensor:
        """Return phi, then a depthwise convolution with this padding, of shape (channels, H, W)."""
        channels, n = len(self.series.b), self.series.n
        conv = nn.Conv2d(
            channels, channels, 2 * n + 1, padding=n, groups=channels, bias=False, padding_mode=self.padding
        )
        arithmetic.place(conv)
        arithmetic.put(conv, "weight", [[kernel] for kernel in self.series.a])
        y: Tensor = conv(self.series.phi.module()(self.series.shifted(arithmetic)))[0]
        return y

    def printed(self, arithmetic: Arithmetic) -> list[list[list[Rounded]]]:
        """Return Eq. 10, i and j from -n to n, at every position of the grid."""
        n = self.series.n
        larger = replace(self.series, x=tuple(self._continued(grid) for grid in self.series.x))
        return larger.printed(arithmetic, range(-n, n + 1), *interior(larger))

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {**self.series.shown(), "padding": self.padding}

    def _continued(self, grid: Matrix) -> Matrix:
        n, (height, width) = self.series.n, self.series.size
        return tuple(tuple(self._value(grid, h, w) for w in range(-n, width + n)) for h in range(-n, height + n))

    def _value(self, grid: Matrix, h: int, w: int) -> float:
        height, width = self.series.size
        if self.padding == "zeros":
            return grid[h][w] if 0 <= h < height and 0 <= w < width else 0.0
        index = _INDICES[self.padding]
        return grid[index(h, height)][index(w, width)]


def padded(examples: st.Strategy[Series]) -> st.Strategy[Padded]:
    """Continue examples in every way."""
    paddings: tuple[Padding, ...] = get_args(Padding)
    return st.builds(Padded, st.sampled_from(paddings), examples)
