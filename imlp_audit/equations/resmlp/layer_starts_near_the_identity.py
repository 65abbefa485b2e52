"""A layer starts near the identity, the nearer the smaller the alpha that the Affs after its sublayers start with:
read as |Y - X| at most alpha times the magnitudes that A, B and C give, and Y = X where that alpha is zero.

Place: Sec. 2, after Eq. 1
Printed: As a post-normalization, Aff is similar to LayerScale and we initialize alpha with the same small value;
    |Y - X| <= alpha (|X| |A|^T + |C| |B| |Z|), with |Z| <= |X| + alpha |X| |A|^T, as |GELU(t)| <= |t|
Bound: those of Eq. 2 and Eq. 3, one within the other
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, at_most, equal
from imlp_audit.equations.resmlp._layer import (
    PATCHES,
    WIDTHS,
    AffCase,
    CrossPatchCase,
    FeedForwardCase,
    Values,
    added,
    batch_of,
    each_of,
    loaded,
    matrix_of,
    product,
    transposed,
)
from imlp_audit.equations.rounded import Rounded
from imlp_audit.equations.strategies import Matrix, matrices
from imlp_audit.models.resmlp import EquationLayer

Rows = list[list[Rounded]]


@dataclass(frozen=True)
class NewLayer:
    """A layer whose Affs are as they start, alpha after its sublayers, X, A, B and C."""

    alpha: float
    x: Matrix
    a: Matrix
    b: Matrix
    c: Matrix

    def module(self, arithmetic: Arithmetic) -> EquationLayer:
        """Return the layer; its Affs are those of its constructor."""
        weights: dict[str, Values] = {
            "across_patches.a.weight": self.a,
            "across_channels.b.weight": self.b,
            "across_channels.c.weight": self.c,
        }
        return loaded(EquationLayer(len(self.x), len(self.a), scale=self.alpha), weights, arithmetic)

    def printed(self, arithmetic: Arithmetic) -> Rows:
        """Return Y by Eq. 2 and 3."""
        d = len(self.x)
        first, last = AffCase((1.0,) * d, (0.0,) * d), AffCase((self.alpha,) * d, (0.0,) * d)
        z = CrossPatchCase(self.x, self.a, first, last).printed(arithmetic)
        return FeedForwardCase(self.x, self.b, self.c, first, last).of(z, arithmetic)

    def distance(self, arithmetic: Arithmetic) -> Rows:
        """Return alpha (|X| |A|^T + |C| |B| (|X| + alpha |X| |A|^T))."""
        x, a, b, c = (_magnitudes(matrix, arithmetic) for matrix in (self.x, self.a, self.b, self.c))
        first = [[self.alpha * number for number in product(a, channel)] for channel in x]
        mixed = [product(c, product(b, column)) for column in transposed(added(x, first))]
        return added(first, [[self.alpha * number for number in channel] for channel in transposed(mixed)])

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {"alpha": self.alpha, "X": self.x, "A": self.a, "B": self.b, "C": self.c}


def judge(case: NewLayer, arithmetic: Arithmetic) -> Trial:
    """Hold the layer against the equations, then their distance from X against the bound."""
    printed, shown = case.printed(arithmetic), case.shown()
    trials = [equal(matrix_of(case.module(arithmetic)(batch_of(case.x, arithmetic))), printed, **shown)]
    for ys, xs, bounds in zip(printed, arithmetic.matrix(case.x), case.distance(arithmetic), strict=True):
        for y, x, bound in zip(ys, xs, bounds, strict=True):
            trials += [at_most(y - x, bound, **shown), at_most(x - y, bound, **shown)]
    return next((trial for trial in trials if not trial.holds), trials[0])


def _magnitudes(matrix: Matrix, arithmetic: Arithmetic) -> Rows:
    return [arithmetic.vector([abs(number) for number in row]) for row in matrix]


def _layers(d: int, patches: int) -> st.SearchStrategy[NewLayer]:
    alpha, x, a = st.sampled_from((0.0, 0.25, 2.0**-10)), matrices(d, patches), matrices(patches, patches)
    return st.builds(NewLayer, alpha, x, a, matrices(4 * d, d), matrices(d, 4 * d))


CLAIM = Claim(each_of(_layers, WIDTHS, PATCHES), judge)
