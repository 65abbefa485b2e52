"""The reading nearest to the spec's first one under which a printed number follows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from imlp_audit.errors import BuildError
from imlp_audit.numbers.printed import Rounding
from imlp_audit.solve.answer import Change
from imlp_audit.solve.problem import Cell, Integers, Problem, Space
from imlp_audit.spec.references import CellRef

SHOWN = 5
"""So many of equally near readings are listed."""


@dataclass(frozen=True)
class Found:
    """A reading by its changes, the number under it, and how that is counted and rounded."""

    changes: tuple[Change, ...]
    value: int
    convention: str
    rounding: Rounding


@dataclass(frozen=True)
class Nearest:
    """What a search of all readings came to.

    `readings` are all of them, `fitting` those that print so, and `ties` those of these with fewest changes; where none
    fits, the nearest misses with fewest. Some of the ties are in `found`, first those whose values named readings have.
    """

    readings: int
    fitting: int
    ties: int
    found: tuple[Found, ...]


@dataclass(frozen=True)
class Counting:
    """One way to make printed numbers of a model: its counts under every reading, and what prints so."""

    convention: str
    rounding: Rounding
    counts: Integers
    low: int
    high: int

    @property
    def miss(self) -> Integers:
        """How far each count is outside."""
        return np.maximum(np.maximum(self.low - self.counts, self.counts - self.high), 0)


def nearest(
    cell: CellRef,
    first: str,
    conventions: Sequence[str],
    roundings: Sequence[Rounding],
    *,
    free_widths: bool = False,
) -> Nearest | None:
    """Search all readings for those whose number prints as the cell does, nearest to the `first` named one.

    With `free_widths`, a D_C that the row itself gives is open too. None where nothing is left open about the model.
    Raises BuildError where it cannot be counted under every reading.
    """
    from imlp_audit.solve.compose import compose  # torch takes seconds to import

    composition = compose([cell.row], free_widths=free_widths)
    if cell.row.id in composition.refused:
        raise BuildError(composition.refused[cell.row.id])
    problem = composition.problem
    group = problem.rows[0].group
    if not group:
        return None
    printed = next(one for one in problem.cells if one.id == cell.id)
    named = {name: indices[group] for name, indices in problem.named.items() if group in indices}
    readings = Places(problem.spaces[group], named[first], tuple(named.values()))
    return _search(list(_countings(problem, printed, conventions, roundings)), readings)


@dataclass(frozen=True)
class Places:
    """All readings of a space by their places on its axes; `first` and `named` are indices of some."""

    space: Space
    first: int
    named: tuple[int, ...]

    @cached_property
    def all(self) -> Integers:
        """The place of every reading on every axis, (axes, readings)."""
        return np.indices(self.space.shape).reshape(len(self.space.shape), -1)

    @cached_property
    def changed(self) -> Integers:
        """On how many axes each reading departs from the first."""
        departs: Integers = (self.all != self.all[:, self.first, np.newaxis]).sum(axis=0)
        return departs

    @cached_property
    def unheard(self) -> Integers:
        """On how many axes each reading has a value that no named one has."""
        known = self.all[:, np.newaxis, list(self.named)]
        lacking: Integers = (self.all[:, :, np.newaxis] != known).all(axis=2).sum(axis=0)
        return lacking

    def changes(self, index: int) -> tuple[Change, ...]:
        """Return how a reading departs from the first."""
        pairs = zip(self.space.axes, self.all[:, self.first], self.all[:, index], strict=True)
        return tuple(Change(axis, values[was], values[now]) for (axis, values), was, now in pairs if was != now)


def _countings(
    problem: Problem, cell: Cell, conventions: Sequence[str], roundings: Sequence[Rounding]
) -> Iterator[Counting]:
    row = problem.rows[cell.row]
    known: Mapping[str, Integers] = row.parameters if cell.kind == "parameters" else row.totals
    for convention in conventions:
        if convention in known:
            for rounding in roundings:
                yield Counting(convention, rounding, known[convention], *cell.ranges[rounding])


def _search(countings: Sequence[Counting], readings: Places) -> Nearest:
    misses = np.stack([counting.miss for counting in countings])
    miss = misses.min(axis=0)
    best = np.flatnonzero(miss == miss.min())
    ties = best[readings.changed[best] == readings.changed[best].min()]
    ties = ties[np.argsort(readings.unheard[ties], kind="stable")]
    found = (_found(countings[int(misses[:, i].argmin())], readings, int(i)) for i in ties[:SHOWN])
    return Nearest(len(miss), int((miss == 0).sum()), len(ties), tuple(found))


def _found(counting: Counting, readings: Places, index: int) -> Found:
    return Found(readings.changes(index), int(counting.counts[index]), counting.convention, counting.rounding)
