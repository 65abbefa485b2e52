"""A sequence alone, and padded with zeros to the longest of its batch, in a layer for longer ones yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, equal
from imlp_audit.equations.draw import Strategy
from imlp_audit.equations.strategies import Matrix, matrices
from imlp_audit.models.resmlp import EquationLayer

from ._layer import AffCase, Column, CrossPatchCase, affs, batch_of, each_of, loaded, matrix_of


@dataclass(frozen=True)
class Padded:
    """X (d x L), the longest length, and a cross-patch sublayer for sequences longer than that."""

    x: Matrix
    longest: int
    a: Matrix
    before: AffCase
    after: AffCase

    def sizes(self) -> Mapping[str, int]:
        """Return the sizes by the paper's symbols."""
        return {"d": len(self.x), "token": len(self.x[0]), "padded token": self.longest - len(self.x[0])}

    def alone(self) -> CrossPatchCase:
        """Return Eq. 2 for the sequence alone: with A cut to its own length."""
        return self._cut(self.x)

    def in_batch(self) -> CrossPatchCase:
        """Return Eq. 2 for the sequence padded with zeros: with A cut to the longest length."""
        padding = (0.0,) * (self.longest - len(self.x[0]))
        return self._cut(tuple((*channel, *padding) for channel in self.x))

    def lower(self) -> Padded:
        """Return the same with A's lower triangle."""
        a = tuple(tuple(number if m <= n else 0.0 for m, number in enumerate(row)) for n, row in enumerate(self.a))
        return replace(self, a=a)

    def holds_in_batch(self, own: Sequence[Column], arithmetic: Arithmetic, *, causal: bool) -> Trial:
        """Judge whether the layer gives Eq. 2 of the padded sequence, and that the printed tokens of its own."""
        padded, a = (self.lower() if causal else self).in_batch(), {"across_patches.a.weight": self.a}
        layer = loaded(EquationLayer(len(self.x), len(self.a), causal=causal), {**padded.weights(), **a}, arithmetic)
        z, printed = matrix_of(layer.cross_patch(batch_of(padded.x, arithmetic))), padded.printed(arithmetic)
        shown = {**self.alone().shown(), "A": self.a, "longest": self.longest}
        batch = equal(z, printed, **shown)
        tokens = [channel[: len(self.x[0])] for channel in printed]
        return equal(tokens, own, **shown) if batch.holds else batch

    def _cut(self, x: Matrix) -> CrossPatchCase:
        length = len(x[0])
        return CrossPatchCase(x, tuple(row[:length] for row in self.a[:length]), self.before, self.after)


def padded_sequences() -> Strategy[Padded]:
    """One channel, one or two tokens, padded by one or two, in a layer for one more."""

    def sized(length: int, padding: int) -> Strategy[Padded]:
        longest = length + padding
        a = matrices(longest + 1, longest + 1)
        return st.builds(Padded, matrices(1, length), st.just(longest), a, affs(1), affs(1))

    return each_of(sized, (1, 2), (1, 2))
