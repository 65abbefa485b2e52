"""A table of all readings from measurements of a few: groups of axes that do not interact add up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from imlp_audit.models.reading import AnyReading
from imlp_audit.solve.amounts import Amounts
from imlp_audit.solve.space import Readings

Axes = tuple[str, ...]


@dataclass(frozen=True)
class Structure:
    """How amounts depend on the axes of a reading.

    Each tuple of `apart` changes them by something that no axis of another tuple alters; the axes `together` alter
    what all of them do. Axes that are not named change nothing.
    """

    apart: Sequence[Axes]
    together: Axes = ()


def tabulate(readings: Readings, measure: Callable[[AnyReading], Amounts], structure: Structure) -> Amounts:
    """Return the amounts under every reading, (readings, amounts).

    With all axes but those named at their first value: the sum over `apart` of m(together, axes), less m(together)
    once for every tuple but one.
    """
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
