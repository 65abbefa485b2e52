"""A table of all readings from measurements of a few: groups of axes that do not interact add up."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from imlp_audit.errors import SolverError
from imlp_audit.models.reading import AnyReading, Axis, Reach
from imlp_audit.solve.amounts import Amounts
from imlp_audit.solve.space import Readings

Axes = tuple[str, ...]


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


def tabulate(readings: Readings, measure: Callable[[AnyReading], Amounts], structure: Structure) -> Amounts:
    """Return the amounts under every reading, (readings, amounts).

    With all axes but those named at their first value: the sum over `apart` of m(together, axes), less m(together)
    once for every tuple but one. Raises SolverError where an axis with several values has no place in the structure.
    """
    lost = [axis for axis, values in readings.axes.items() if len(values) > 1 and axis not in structure.axes]
    if lost:
        raise SolverError(f"what {', '.join(lost)} changes in this part of a model is not declared (models/reading.py)")
    known = cache(measure)
    parts = [_along(readings, known, (*structure.together, *axes)) for axes in structure.apart]
    base = _along(readings, known, structure.together)
    table = sum(parts[1:], parts[0]) - (len(parts) - 1) * base
    return np.broadcast_to(table, (*readings.shape, table.shape[-1])).reshape(len(readings), -1)


def _along(readings: Readings, measure: Callable[[AnyReading], Amounts], axes: Axes) -> Amounts:
    """Return the amounts along some axes, each other axis at its first value and of length 1."""
    shape = tuple(len(values) if axis in axes else 1 for axis, values in readings.axes.items())
    measured = [measure(readings.at(places)) for places in np.ndindex(*shape)]
    return np.array(measured).reshape(*shape, -1)
