"""The readings to search, and what a model counts under each of them.

The axes of each family of models have the values that a text may mean. A table of all readings follows from
measurements of a few, because groups of axes that do not interact add up.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
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
from imlp_audit.errors import BuildError, SolverError
from imlp_audit.models.readings import (
    AnyFamily,
    AnyReading,
    Axis,
    Family,
    OwnFamily,
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
    def declared(self) -> Mapping[str, Axis]:
        """The declaration of each axis. Raises SolverError for a block of one's own, which declares values alone."""
        if isinstance(self.family, OwnFamily):
            raise SolverError(f"how the axes of {self.family} interact is not declared")
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
        return make_reading(self.family, values)

    def all(self) -> Iterator[AnyReading]:
        """Yield every reading, in order."""
        return map(self.at, np.ndindex(*self.shape))

    @property
    def first(self) -> AnyReading:
        """The reading with the first value on each axis."""
        return self.at((0,) * len(self.axes))

    def by(self, axes: Sequence[str]) -> Iterator[Readings]:
        """Yield the readings with each combination of values on some axes, the last of these axes fastest."""
        for values in product(*(self.axes[axis] for axis in axes)):
            yield Readings(self.family, {**self.axes, **{a: (v,) for a, v in zip(axes, values, strict=True)}})

    def join(self, axes: Sequence[str], tables: Sequence[Counts]) -> Counts:
        """Return one table, (readings, counts), from those of the readings that `by` yields for the same axes."""
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
            index = index * len(values) + values.index(answer_of(reading, axis))
        return index


def readings_of(family: str | OwnFamily, named: Iterable[AnyReading] = ()) -> Readings:
    """Return the readings of a family; where an axis is a number, those in the `named` readings are tried too."""
    if isinstance(family, OwnFamily):
        return Readings(family, dict(family.axes))
    known = list(named)
    axes = axes_of(Family(family))
    return Readings(Family(family), {name: _values(name, axis, known) for name, axis in axes.items()})


def _values(name: str, axis: Axis, named: list[AnyReading]) -> tuple[Value, ...]:
    if isinstance(axis.default, StrEnum):
        return axis.values
    return tuple(sorted({*axis.tried, *(getattr(reading, name) for reading in named)}))


@dataclass(frozen=True)
class Structure:
    """How amounts depend on the axes of a reading.

    Each tuple of `apart` changes them by something that no axis of another tuple alters; the axes `together` alter
    what all of them do; the axes `fixed` change nothing.
    """

    apart: Sequence[Axes]
    together: Axes = ()
    fixed: Axes = ()

    @property
    def axes(self) -> frozenset[str]:
        """Every axis that has a place in it."""
        return frozenset((*self.together, *self.fixed, *(axis for axes in self.apart for axis in axes)))


def structure_of(axes: Mapping[str, Axis], moved: Collection[Reach], fixed: Collection[Reach] = ()) -> Structure:
    """Return how a part of a model depends on the axes of its family, as they declare it.

    The part is changed by axes of the `moved` reaches and by those that reach everywhere, and not by the `fixed` ones.
    An axis of any other reach has no place in the structure, and `tabulate` refuses it.
    """
    groups: dict[str, list[str]] = {}
    for name, axis in axes.items():
        if axis.reach in moved:
            groups.setdefault(_leader(axes, name), []).append(name)
    return Structure(
        apart=tuple(map(tuple, groups.values())),
        together=tuple(name for name, axis in axes.items() if axis.reach is Reach.EVERYWHERE),
        fixed=tuple(name for name, axis in axes.items() if axis.reach in fixed),
    )


def _leader(axes: Mapping[str, Axis], name: str) -> str:
    """Return the axis that stands for those that an axis interacts with."""
    other = axes[name].meets
    return name if other is None else _leader(axes, other)


def tabulate(readings: Readings, measure: Callable[[AnyReading], Counts], structure: Structure) -> Counts:
    """Return the amounts under every reading, (readings, counts).

    With all axes but those named at their first value: the sum over `apart` of m(together, axes), less m(together)
    once for every tuple but one. Raises SolverError where an axis with several values has no place in the structure.
    """
    lost = [axis for axis, values in readings.axes.items() if len(values) > 1 and axis not in structure.axes]
    if lost:
        raise SolverError(
            f"what {', '.join(lost)} changes in this part of a model is not declared (models/readings.py)"
        )
    known = cache(measure)
    parts = [_along(readings, known, (*structure.together, *axes)) for axes in structure.apart]
    base = _along(readings, known, structure.together)
    table = sum(parts[1:], parts[0]) - (len(parts) - 1) * base
    return np.broadcast_to(table, (*readings.shape, table.shape[-1])).reshape(len(readings), -1)


def _along(readings: Readings, measure: Callable[[AnyReading], Counts], axes: Axes) -> Counts:
    """Return the amounts along some axes, each other axis at its first value and of length 1."""
    shape = tuple(len(values) if axis in axes else 1 for axis, values in readings.axes.items())
    measured = [measure(readings.at(places)) for places in np.ndindex(*shape)]
    return np.array(measured).reshape(*shape, -1)
