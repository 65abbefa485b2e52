"""A sequence alone, and padded with zeros to the longest of its batch, in a layer for longer ones yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, equal
from imlp_audit.equations.resmlp._layer import (
    AffCase,
    Column,
    CrossPatchCase,
    affs,
    batch_of,
    each_of,
    loaded,
    matrix_of,
)
from imlp_audit.equations.strategies import Matrix, matrices
from imlp_audit.models.resmlp import EquationLayer


@dataclass(frozen=True)
class Padded:
    """X (d x L), the longest length, and a cross-patch sublayer for sequences longer than that."""

    x: Matrix
    longest: int
    a: Matrix
    before: AffCase
    after: AffCase

    def alone(self) -> CrossPatchCase:
        """Return Eq. 2 for the sequence alone: with A cut to its own length."""
        length = len(self.x[0])
        return CrossPatchCase(self.x, tuple(row[:length] for row in self.a[:length]), self.before, self.after)

    def lower(self) -> Padded:
        """Return the same with A's lower triangle."""
        a = tuple(tuple(number if m <= n else 0.0 for m, number in enumerate(row)) for n, row in enumerate(self.a))
        return replace(self, a=a)

    def holds_in_batch(self, printed: Sequence[Column], arithmetic: Arithmetic, *, causal: bool) -> Trial:
        """Judge whether the padded sequence's own tokens come out as printed."""
        d, length = len(self.x), len(self.x[0])
        padded = tuple((*channel, *(0.0,) * (self.longest - length)) for channel in self.x)
        weights = CrossPatchCase(padded, self.a, self.before, self.after).weights()
        layer = loaded(EquationLayer(d, len(self.a), causal=causal), weights, arithmetic)
        z = matrix_of(layer.cross_patch(batch_of(padded, arithmetic)))[:, :length]
        return equal(z, printed, **{**self.alone().shown(), "A": self.a, "longest": self.longest})


def padded_sequences() -> SearchStrategy[Padded]:
    """One channel, one or two tokens, padded by one or two, in a layer for one more."""

    def sized(length: int, padding: int) -> SearchStrategy[Padded]:
        longest = length + padding
        a = matrices(longest + 1, longest + 1)
        return st.builds(Padded, matrices(1, length), st.just(longest), a, affs(1), affs(1))

    return each_of(sized, (1, 2), (1, 2))
