"""Which readings give a printed number, and which of them is nearest to the spec's first one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from imlp_audit.checks.context import Conventions
from imlp_audit.errors import AuditError, BuildError
from imlp_audit.explain.printed import write_gap
from imlp_audit.numbers.printed import Printed, Rounding
from imlp_audit.records.explanation import AxisSource, NearestReadings, NearReading, ReadingSearch
from imlp_audit.records.solution import SolvedChange
from imlp_audit.solve.problem import Cell, Integers, SearchProblem, Space
from imlp_audit.spec.columns import image_of
from imlp_audit.spec.paper import CellRef, own_families
from imlp_audit.spec.schema import Choice

SHOWN = 5  # of equally near readings


@dataclass(frozen=True)
class Counting:
    """One convention and rounding rule: a model's counts under every reading, and the range that prints so."""

    convention: str
    rounding: Rounding
    counts: Integers
    low: int
    high: int

    @property
    def miss(self) -> Integers:
        """How far each count is outside the range."""
        return np.maximum(np.maximum(self.low - self.counts, self.counts - self.high), 0)


def search_readings(cell: CellRef, read: Conventions) -> Iterator[NearestReadings]:
    """Yield which of all readings give the printed number; nothing if nothing is open about the model."""
    named = read.about.readings
    if not named:
        return
    first = next(iter(named))
    answer = NearestReadings(printed=cell.printed.text, first=first)
    conventions = [str(name) for name in read.declared_for(cell.row.row, cell.column)]
    rules = read.roundings_of(cell.column)
    try:
        search = nearest(cell, first, conventions, rules)
    except AuditError as error:
        yield answer.model_copy(update={"failure": str(error)})
        return
    if search is None:
        return
    changed = [change for found in search.found for change in found.changes]
    own = own_families(cell.row.paper)
    choices = {name: reading.choices_with(own) for name, reading in named.items()}
    sources = tuple(_sources(changed, first, choices))
    yield answer.model_copy(update={"search": search, "sources": sources})


def _sources(
    changes: Sequence[SolvedChange], first: str, choices: Mapping[str, Mapping[str, Choice[Any]]]
) -> Iterator[AxisSource]:
    """Yield, for each axis that changes, what the spec gives as the place that decides it."""
    for axis in dict.fromkeys(change.axis for change in changes):
        wanted = {change.becomes for change in changes if change.axis == axis}
        for name, chosen in choices.items():
            choice = chosen.get(axis)
            if choice is not None and (name == first or str(choice.value) in wanted):
                yield AxisSource(axis=axis, value=str(choice.value), reading=name, because=choice.because)


def nearest(
    cell: CellRef, first: str, conventions: Sequence[str], roundings: Sequence[Rounding]
) -> ReadingSearch | None:
    """Search all readings for those that give the printed number and are nearest to the named reading `first`.

    None if nothing is open about the model. Raises BuildError if it cannot be counted under every reading.
    """
    from imlp_audit.solve.compose import compose, posed_id  # torch takes seconds to import

    composition = compose([cell.row])
    posed = posed_id(cell.row, image_of(cell.column))
    if posed in composition.refused:
        raise BuildError(composition.refused[posed])
    problem = composition.problem
    group = problem.rows[0].group
    if not group:
        return None
    printed = next(one for one in problem.cells if one.id == cell.id)
    named = {name: indices[group] for name, indices in problem.named.items() if group in indices}
    countings = list(_countings(problem, printed, conventions, roundings))
    return _search(countings, problem.spaces[group], named[first], list(named.values()), cell.printed)


def _countings(
    problem: SearchProblem, cell: Cell, conventions: Sequence[str], roundings: Sequence[Rounding]
) -> Iterator[Counting]:
    row = problem.rows[cell.row]
    known: Mapping[str, Integers] = row.parameters if cell.kind == "parameters" else row.totals
    for convention in conventions:
        if convention in known:
            for rounding in roundings:
                yield Counting(convention, rounding, known[convention], *cell.ranges[rounding])


def _search(
    countings: Sequence[Counting], space: Space, first: int, named: list[int], printed: Printed
) -> ReadingSearch:
    """Search by the indices of the first reading and of all named ones, whose values come before others."""
    misses = np.stack([counting.miss for counting in countings])
    miss = misses.min(axis=0)
    best = np.flatnonzero(miss == miss.min())
    changed = space.count_apart(first)[best]
    ties = best[changed == changed.min()]
    unheard = (space.places[:, ties, np.newaxis] != space.places[:, np.newaxis, named]).all(axis=2).sum(axis=0)
    ties = ties[np.argsort(unheard, kind="stable")]

    def near(index: int) -> NearReading:
        counting = countings[int(misses[:, index].argmin())]
        value = int(counting.counts[index])
        return NearReading(
            value=value,
            gap=write_gap(printed.gap(value)),
            convention=counting.convention,
            rounding=counting.rounding,
            changes=space.changes(first, index),
        )

    found = tuple(near(index) for index in ties[:SHOWN].tolist())
    return ReadingSearch(readings=len(miss), fitting=int((miss == 0).sum()), ties=len(ties), found=found)
