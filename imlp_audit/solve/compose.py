"""From rows of tables to a problem to solve: every row's counts under every reading, no model built for each.

What a model has adds up: a host without its MLPs and the blocks in their place, or what stands around a stack of
layers and the layers; and what a block has is the sum of its parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor
from typing import Literal

import numpy as np

from imlp_audit.errors import BuildError
from imlp_audit.interval import Interval
from imlp_audit.models.reading import AnyReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.printed import Rounding
from imlp_audit.solve.amounts import CLASSES, Amounts, parameters_in, work_in
from imlp_audit.solve.compose_blocks import Hosts
from imlp_audit.solve.compose_layers import Stacks
from imlp_audit.solve.problem import Cell, Problem, Row
from imlp_audit.solve.space import FAMILIES, Readings, readings_of
from imlp_audit.spec.loader import Paper
from imlp_audit.spec.references import CellRef, RowRef
from imlp_audit.spec.schema import Measure

KINDS: Mapping[Measure, Literal["parameters", "flops"]] = {Measure.PARAMETERS: "parameters", Measure.FLOPS: "flops"}


@dataclass(frozen=True)
class Composition:
    """The problem that rows pose, and by id why other rows are no part of it."""

    problem: Problem
    refused: Mapping[str, str]


@dataclass(frozen=True)
class Composer:
    """Gives the amounts of models under every reading of their family; each host, block and layer is counted once."""

    spaces: Mapping[str, Readings]
    _hosts: Hosts = field(default_factory=Hosts)
    _stacks: Stacks = field(default_factory=Stacks)
    _known: dict[Recipe, Amounts] = field(default_factory=dict)

    def table(self, recipe: Recipe) -> Amounts:
        """Return the amounts, (readings, amounts); one row for a model that no reading changes. Raises BuildError."""
        if recipe not in self._known:
            self._known[recipe] = self._compose(recipe)
        return self._known[recipe]

    def _compose(self, recipe: Recipe) -> Amounts:
        match recipe.family:
            case None:
                return self._hosts.as_it_is(recipe)[np.newaxis]
            case "imlp":
                return self._hosts.with_blocks(recipe, self.spaces["imlp"])
            case family:
                return self._stacks.with_layers(recipe, self.spaces[family])


def compose(rows: Sequence[RowRef], *, free_widths: bool = False) -> Composition:
    """Return the problem that the counted numbers of some rows pose.

    With `free_widths`, a D_C that a recipe of gMLP for text says is for the readings to say as well. A row without a
    model or a counted number, or whose model cannot be built or counted, is refused with the reason.
    """
    papers = list({row.paper.id: row.paper for row in rows}.values())
    spaces = {family: readings_of(family, _named_parts(papers, family)) for family in FAMILIES}
    composer = Composer(spaces)
    refused: dict[str, str] = {}
    posed: list[tuple[RowRef, str, Amounts]] = []
    for row in rows:
        try:
            recipe = _recipe(row, free_widths)
            posed.append((row, recipe.family or "", composer.table(recipe)))
        except BuildError as error:
            refused[row.id] = str(error)
        except Exception as error:  # whatever a host's code raises is a result of this row, not the end of the search
            refused[row.id] = f"{row.row.model} could not be built or counted: {type(error).__name__}: {error}"
    groups = {group for _, group, _ in posed}
    return Composition(_problem(posed, {f: space for f, space in spaces.items() if f in groups}, papers), refused)


def _recipe(row: RowRef, free_widths: bool) -> Recipe:
    """Return how the model of a row is built; raises BuildError for a row that poses no problem."""
    recipe = row.row.model
    if recipe is None:
        raise BuildError("the row has no model")
    if not any(_cells(row, 0)):
        raise BuildError("the row prints no parameters and no FLOPs")
    if not free_widths or recipe.gmlp_text is None:
        return recipe
    return recipe.model_copy(update={"gmlp_text": recipe.gmlp_text.model_copy(update={"hidden": None})})


def _problem(
    posed: Sequence[tuple[RowRef, str, Amounts]], spaces: Mapping[str, Readings], papers: Sequence[Paper]
) -> Problem:
    places = [i for i in range(len(CLASSES)) if any(work_in(table)[:, i].any() for _, _, table in posed)]
    return Problem(
        rows=tuple(
            Row(row.id, group, parameters_in(table), np.ascontiguousarray(work_in(table)[:, places]))
            for row, group, table in posed
        ),
        cells=tuple(cell for index, (row, _, _) in enumerate(posed) for cell in _cells(row, index)),
        spaces={family: readings.space() for family, readings in spaces.items()},
        classes=tuple(CLASSES[i] for i in places),
        named=_named(papers, spaces),
    )


def _cells(row: RowRef, index: int) -> Iterator[Cell]:
    """Yield the printed totals of a row, which is at an index of the problem's rows."""
    for column in row.row.printed:
        cell = CellRef(row, column)
        kind = KINDS.get(cell.column.measure)
        if kind is not None:
            printed = cell.printed
            ranges = {rule: _integers(printed.interval(rule)) for rule in Rounding}
            yield Cell(cell.id, index, kind, ranges, printed.step * printed.scale)


def _integers(interval: Interval) -> tuple[int, int]:
    """Return the least and the largest integer of an interval."""
    least, most = ceil(interval.low), floor(interval.high)
    return (
        least + (least == interval.low and not interval.low_closed),
        most - (most == interval.high and not interval.high_closed),
    )


def _named_parts(papers: Sequence[Paper], family: str) -> Iterator[AnyReading]:
    """Yield what the named readings of some papers say about a family."""
    for paper in papers:
        for named in paper.about.value.readings.values():
            part: AnyReading | None = getattr(named.reading(), family)
            if part is not None:
                yield part


def _named(papers: Sequence[Paper], spaces: Mapping[str, Readings]) -> dict[str, dict[str, int]]:
    """Return where the named readings are; a name that another paper has for another reading is told apart by paper."""
    found: dict[str, dict[str, int]] = {}
    for paper in papers:
        for name, named in paper.about.value.readings.items():
            reading = named.reading()
            at = {
                family: readings.index(part)
                for family, readings in spaces.items()
                if (part := getattr(reading, family)) is not None
            }
            taken = any(found.get(name, {}).get(family, index) != index for family, index in at.items())
            if at:
                found.setdefault(f"{paper.id}:{name}" if taken else name, {}).update(at)
    return found
