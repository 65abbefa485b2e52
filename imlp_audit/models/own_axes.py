"""The axes of a block of one's own, and a reading of them. Torch-free.

Nothing is known about how such axes interact, so `solve` counts every combination of their values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MOST_COMBINATIONS = 64
"""The most combinations of values that a block may declare: `solve` builds the model of each row so many times."""


@dataclass(frozen=True)
class BlockReading:
    """One answer for each axis of a block of one's own; values are words, as a spec writes them."""

    answers: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class OwnFamily:
    """The axes of the class `name` in the Python `file`, each with its values as words, the default first.

    An axis is called `GatedMlp.gate_norm` wherever it stands among those of other families.
    """

    name: str
    file: str
    axes: tuple[tuple[str, tuple[str, ...]], ...]

    def reading(self, stated: Mapping[str, str]) -> BlockReading:
        """Return the reading with the stated answers, and the default on every other axis."""
        return BlockReading(tuple((axis, stated.get(axis, values[0])) for axis, values in self.axes))

    def __str__(self) -> str:
        return self.name


def word_of(value: bool | int | str) -> str:
    """Write a value as a spec does."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def axis_of(block: str, name: str) -> str:
    """Return what the axis of a block is called among those of all families."""
    return f"{block}.{name}"
