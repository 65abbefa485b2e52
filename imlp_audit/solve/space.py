"""The readings to search, and what a model counts under each of them.

The axes of each family of models have the values that a text may mean. A table of all readings follows from
models measured under a few, because groups of axes that do not interact add up.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import product
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from imlp_audit.count.call import Operation
from imlp_audit.count.conventions import Convention, ParameterConvention
from imlp_audit.count.record import Ledger, Site
from imlp_audit.errors import BuildError
from imlp_audit.models.readings import (
    AnyFamily,
    AnyReading,
    Axis,
    OwnFamily,
    PaperReading,
    Reach,
    Value,
    answer_of,
    axes_of,
    make_reading,
)

Counts: TypeAlias = NDArray[np.int64]
"""(..., conventions of parameters, then sites x classes of work): they add up over the parts of a model."""

CONVENTIONS = tuple(ParameterConvention)
_SEARCHED = (ParameterConvention.ALL, ParameterConvention.NO_HEAD, ParameterConvention.WITH_BUFFERS)  # papers' own
SITES = tuple(Site)
CLASSES = tuple(operation for operation in Operation if operation is not Operation.UNKNOWN)

_PLACES: Mapping[Hashable, int] = {key: i for i, key in enumerate((*CONVENTIONS, *product(SITES, CLASSES)))}


def count_vector(parameters: Mapping[ParameterConvention, int], ledger: Ledger) -> Counts:
    """Return the vector; a convention without a count has 0. Raises BuildError for work of an unknown class."""
    if ledger.unknown:
        raise BuildError(f"no formula counts {', '.join(sorted(ledger.unknown))}, so not all work is known")
    vector = np.zeros(len(_PLACES), dtype=np.int64)
    for key, amount in (*parameters.items(), *ledger.by_site.items()):
        vector[_PLACES[key]] = amount
    return vector


def parameters_in(table: Counts) -> dict[str, NDArray[np.int64]]:
    """Return the parameters of each row of a table by convention, without conventions that count nothing."""
    return {str(one): table[:, i] for i, one in enumerate(CONVENTIONS) if one in _SEARCHED and table[:, i].any()}


def work_in(table: Counts) -> NDArray[np.int64]:
    """Return the work of each row of a table by class: (rows, classes), in the order of CLASSES."""
    work: NDArray[np.int64] = _by_site(table).sum(axis=1)
    return work


def total_in(table: Counts, convention: Convention) -> NDArray[np.int64]:
    """Return the total of each row of a table under a convention, which may weigh sites apart."""
    weights = [[convention.weight(operation, site) for operation in CLASSES] for site in SITES]
    total: NDArray[np.int64] = np.einsum("rsc,sc->r", _by_site(table), np.array(weights, dtype=np.int64))
    return total


def _by_site(table: Counts) -> NDArray[np.int64]:
    return table[:, len(CONVENTIONS) :].reshape(len(table), len(SITES), len(CLASSES))


Axes = tuple[str, ...]


@dataclass(frozen=True)
class Readings:
    """All readings of a family: every combination of the values of its axes, the last axis fastest."""

    family: AnyFamily
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
        return make_reading(self.family, values)

    def index(self, reading: AnyReading) -> int:
        """Return the position of a reading among all."""
        index = 0
        for axis, values in self.axes.items():
            index = index * len(values) + values.index(answer_of(reading, axis))
        return index


def readings_of(family: AnyFamily, named: Iterable[PaperReading] = ()) -> Readings:
    """Return the readings of a family; where an axis is a number, those in the `named` readings are tried too."""
    if isinstance(family, OwnFamily):
        return Readings(family, dict(family.axes))
    known = [part for one in named if (part := one.of(family)) is not None]
    return Readings(family, {name: _values(name, axis, known) for name, axis in axes_of(family).items()})


def _values(name: str, axis: Axis, named: list[AnyReading]) -> tuple[Value, ...]:
    if isinstance(axis.default, StrEnum):
        return axis.values
    return tuple(sorted({*axis.tried, *(getattr(reading, name) for reading in named)}))


@dataclass(frozen=True)
class Structure:
    """How counts depend on a reading: each tuple of axes `apart` changes them by something that no axis of another
    tuple alters; the axes `together` alter what all of them do.
    """

    together: Axes
    apart: tuple[Axes, ...]


def structure_of(readings: Readings) -> Structure:
    """Return how a model depends on the axes of its family, as they declare it.

    How the axes of a block of one's own interact is not declared, so all are in one tuple.
    """
    if isinstance(readings.family, OwnFamily):
        return Structure((), (tuple(readings.axes),))
    axes = axes_of(readings.family)
    together = tuple(name for name, axis in axes.items() if axis.reach is Reach.EVERYWHERE)
    groups: dict[str, list[str]] = {}
    for name in (name for name in axes if name not in together):
        groups.setdefault(_leader(axes, name), []).append(name)
    return Structure(together, tuple(map(tuple, groups.values())))


def _leader(axes: Mapping[str, Axis], name: str) -> str:
    """Return the axis that stands for those that an axis interacts with."""
    other = axes[name].meets
    return name if other is None else _leader(axes, other)


def tabulate(readings: Readings, count: Callable[[AnyReading], Counts]) -> Counts:
    """Return the counts under every reading, (readings, counts).

    With all axes but those named at their first value: the sum over `apart` of count(together, axes), less
    count(together) once for every tuple but one.
    """
    structure, known = structure_of(readings), cache(count)
    parts = [_along(readings, known, (*structure.together, *axes)) for axes in structure.apart]
    base = _along(readings, known, structure.together)
    table = sum(parts[1:], parts[0]) - (len(parts) - 1) * base
    return np.broadcast_to(table, (*readings.shape, table.shape[-1])).reshape(len(readings), -1)


def readings_to_count(readings: Readings) -> list[AnyReading]:
    """Return the readings that `tabulate` asks for."""
    structure = structure_of(readings)
    places = (place for axes in structure.apart for place in _places(readings, (*structure.together, *axes)))
    return list(map(readings.at, dict.fromkeys(places)))


def _along(readings: Readings, count: Callable[[AnyReading], Counts], axes: Axes) -> Counts:
    """Return the counts along some axes, each other axis at its first value and of length 1."""
    counted = [count(readings.at(place)) for place in _places(readings, axes)]
    return np.array(counted).reshape(*_shape_along(readings, axes), -1)


def _places(readings: Readings, axes: Axes) -> Iterator[tuple[int, ...]]:
    return iter(np.ndindex(*_shape_along(readings, axes)))


def _shape_along(readings: Readings, axes: Axes) -> tuple[int, ...]:
    return tuple(len(values) if axis in axes else 1 for axis, values in readings.axes.items())
