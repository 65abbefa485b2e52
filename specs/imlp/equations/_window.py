"""What an output of stacked IMLPs on a grid of tokens depends on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from torch import Tensor, nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial
from imlp_audit.models.imlp import Imlp
from imlp_audit.models.reading import PRINTED

from ._reach import Place, reach, with_ones


@dataclass(frozen=True)
class Window:
    """A kernel n x n, a number of IMLPs one after the other, the (H, W) of a grid, and a position on it."""

    n: int
    blocks: int
    size: Place
    at: Place

    def seen(self, arithmetic: Arithmetic) -> frozenset[Place]:
        """Return the positions that the output depends on."""
        (height, width), (row, column) = self.size, self.at
        imlps = (Imlp(1, 1, reading=PRINTED, kernel=self.n, grid=self.size) for _ in range(self.blocks))
        stack = with_ones(nn.Sequential(*imlps), arithmetic)

        def output(x: Tensor) -> Tensor:
            tokens = stack(x.reshape(1, height * width, 1))
            y: Tensor = tokens[0, row * width + column, 0]
            return y

        return reach(output, self.size, arithmetic)

    def distance(self, place: Place) -> int:
        """Return how many rows or columns, whichever are more, a position is away."""
        return max(abs(place[0] - self.at[0]), abs(place[1] - self.at[1]))

    def hold_against(self, expected: Callable[[Place], bool], arithmetic: Arithmetic) -> Trial:
        """Judge whether the output depends on exactly the positions that are expected."""
        seen = self.seen(arithmetic)
        shown = {"n": self.n, "L": self.blocks, "H": self.size[0], "W": self.size[1], "(h, w)": _from_one(self.at)}
        for place in product(range(self.size[0]), range(self.size[1])):
            if (place in seen) != expected(place):
                return Trial(False, {**shown, f"depends on {list(_from_one(place))}": place in seen})
        return Trial(True)


def windows(blocks: int) -> st.Strategy[Window]:
    """Return stacks of up to so many IMLPs with the kernels of Table 5 but n = 1, on grids of up to 6 a side."""

    def on(size: Place) -> st.Strategy[Window]:
        at = st.tuples(st.integers(0, size[0] - 1), st.integers(0, size[1] - 1))
        return st.builds(Window, st.sampled_from((3, 5, 7)), st.integers(1, blocks), st.just(size), at)

    return st.tuples(st.integers(1, 6), st.integers(1, 6)).flatmap(on)


def _from_one(place: Place) -> Place:
    return place[0] + 1, place[1] + 1
