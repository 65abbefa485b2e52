"""The readings that are searched: for each family of models its axes, and on each the values that a text may mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from math import prod
from typing import Any

import numpy as np

from imlp_audit.models.reading import AnyReading, Axis, Family, Value, axes_of
from imlp_audit.solve.amounts import Amounts


@dataclass(frozen=True)
class Readings:
    """All readings of a family: every combination of the values of its axes, the last axis fastest."""

    family: Family
    axes: Mapping[str, tuple[Value, ...]]

    @property
    def declared(self) -> Mapping[str, Axis]:
        """What each axis is declared to be."""
        return axes_of(self.family)

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
        return self.family.kind(**values)

    @property
    def first(self) -> AnyReading:
        """The reading with the first value on each axis."""
        return self.at((0,) * len(self.axes))

    def where(self, axis: str, value: Value) -> Readings:
        """Return the readings that have a value on an axis."""
        return Readings(self.family, {**self.axes, axis: (value,)})

    def by(self, axes: Sequence[str]) -> Iterator[Readings]:
        """Yield the readings with each combination of values on some axes, the last of these axes fastest."""
        for values in product(*(self.axes[axis] for axis in axes)):
            yield Readings(self.family, {**self.axes, **{a: (v,) for a, v in zip(axes, values, strict=True)}})

    def join(self, axes: Sequence[str], tables: Sequence[Amounts]) -> Amounts:
        """Return one table, (readings, amounts), from those of the readings that `by` yields for the same axes."""
        rest = [axis for axis in self.axes if axis not in axes]
        first = [len(self.axes[axis]) for axis in (*axes, *rest)]
        order = [*axes, *rest]
        stacked = np.stack(tables).reshape(*first, -1)
        return np.moveaxis(stacked, range(len(order)), [list(self.axes).index(axis) for axis in order]).reshape(
            len(self), -1
        )

    def index(self, reading: AnyReading) -> int:
        """Return the position of a reading among all."""
        index = 0
        for axis, values in self.axes.items():
            index = index * len(values) + values.index(getattr(reading, axis))
        return index


def readings_of(family: str, named: Iterable[AnyReading] = ()) -> Readings:
    """Return the readings of a family; where an axis is a number, those of the `named` readings are tried too."""
    known = list(named)
    axes = axes_of(Family(family))
    return Readings(Family(family), {name: _values(name, axis, known) for name, axis in axes.items()})


def _values(name: str, axis: Axis, named: list[AnyReading]) -> tuple[Value, ...]:
    if isinstance(axis.default, StrEnum):
        return axis.values
    return tuple(sorted({*axis.tried, *(getattr(reading, name) for reading in named)}))
