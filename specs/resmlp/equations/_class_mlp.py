"""A class-MLP layer's tokens and the weights that its claims set."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from imlp_audit.equations.strategies import Matrix, Vector, matrices, vectors

from ._layer import PATCHES, WIDTHS, each_of


@dataclass(frozen=True)
class ClassMlpCase:
    """A class token, patches (a row each) and the aggregator's weights for the token and each patch."""

    token: Vector
    patches: Matrix
    aggregator: Vector

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {"class token": self.token, "patches": self.patches, "aggregator": self.aggregator}


def class_mlps() -> SearchStrategy[ClassMlpCase]:
    """Class-MLPs of one or two channels on a grid of 1 x 1 or 2 x 2 patches."""

    def sized(d: int, patches: int) -> SearchStrategy[ClassMlpCase]:
        return st.builds(ClassMlpCase, vectors(d), matrices(patches, d), vectors(1 + patches))

    return each_of(sized, WIDTHS, PATCHES)
