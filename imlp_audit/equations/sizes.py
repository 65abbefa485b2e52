"""The sizes of a Mixer layer."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from imlp_audit.models.mixer import MixerLayer


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


def sizes(largest: int = 5) -> SearchStrategy[Sizes]:
    """Sizes from 1 up."""
    number = st.integers(1, largest)
    return st.builds(Sizes, number, number, number, number)
