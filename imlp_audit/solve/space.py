"""The readings that are searched: for each family of models its axes, and on each the values that a text may mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from math import prod
from typing import Any, TypeAlias, get_type_hints

from imlp_audit.models.reading import AnyReading, Reading, ResMlpReading, TextReading

Value: TypeAlias = StrEnum | int

FAMILIES: Mapping[str, type[AnyReading]] = {"imlp": Reading, "resmlp": ResMlpReading, "text": TextReading}
"""By the names that `Recipe.family` has for them."""

# arXiv 2105.08050 and 1810.04805 and what is built after them: vocabularies of BERT, SentencePiece and T5, the
# lengths of pre-training, and the widths of the feed-forward layers of both families.
COUNTS: Mapping[str, tuple[int, ...]] = {
    "vocabulary": (30000, 30522, 32000, 32128),
    "sequence_length": (128, 512),
    "ffn_width": (2048, 3072),
}


@dataclass(frozen=True)
class Readings:
    """All readings of a family: every combination of the values of its axes, the last axis fastest."""

    kind: type[AnyReading]
    axes: Mapping[str, tuple[Value, ...]]

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of values of each axis."""
        return tuple(map(len, self.axes.values()))

    def __len__(self) -> int:
        return prod(self.shape)

    def at(self, places: tuple[int, ...]) -> AnyReading:
        """Return the reading at a place on each axis."""
        values: dict[str, Any] = {
            axis: values[place] for (axis, values), place in zip(self.axes.items(), places, strict=True)
        }
        return self.kind(**values)

    @property
    def first(self) -> AnyReading:
        """The reading with the first value on each axis."""
        return self.at((0,) * len(self.axes))

    def where(self, axis: str, value: Value) -> Readings:
        """Return the readings that have a value on an axis."""
        return Readings(self.kind, {**self.axes, axis: (value,)})

    def index(self, reading: AnyReading) -> int:
        """Return the position of a reading among all."""
        index = 0
        for axis, values in self.axes.items():
            index = index * len(values) + values.index(getattr(reading, axis))
        return index


def readings_of(family: str, named: Iterable[AnyReading] = ()) -> Readings:
    """Return the readings of a family; where an axis is a number, those of the `named` readings are tried too."""
    kind = FAMILIES[family]
    types = get_type_hints(kind)
    known = list(named)
    return Readings(kind, {f.name: _values(f.name, types[f.name], known) for f in fields(kind)})


def _values(axis: str, kind: type[Value], named: list[AnyReading]) -> tuple[Value, ...]:
    if issubclass(kind, StrEnum):
        return tuple(kind)
    return tuple(sorted({*COUNTS[axis], *(getattr(reading, axis) for reading in named)}))
