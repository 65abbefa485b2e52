"""The smallest changes of a single row that would explain all its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from imlp_audit.errors import BuildError
from imlp_audit.models.change import write_value
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.relatives import other_forms
from imlp_audit.records.solution import SolvedChange, SolvedRow
from imlp_audit.solve.amounts import CLASSES, Amounts, parameters_in, work_in
from imlp_audit.solve.answer import Solution
from imlp_audit.solve.compose import Composer
from imlp_audit.solve.problem import NORMS, Cell, Integers, SearchProblem
from imlp_audit.solve.variations import with_other_blocks, with_other_sides

MOST = 2
"""The most places in which a row may change; more would not be an explanation."""

_TIED = {name: tied for tied, names in NORMS.items() for name in names}

Way: TypeAlias = tuple[SolvedChange, ...]


def own_changes(
    problem: SearchProblem, solution: Solution, recipes: Mapping[str, Recipe], composer: Composer
) -> Iterator[SolvedRow]:
    """Yield, for each row with a number that a solution does not explain, the smallest changes that would explain it.

    A row may change in its recipe (its form; the side of its images; of its IMLP blocks the kernel, the ratio and where
    they are) and on the axes of its reading; how it is counted and rounded stays. `recipes` are by the rows' ids.
    """
    for place, row in enumerate(problem.rows):
        cells = [cell for cell in problem.cells if cell.row == place]
        if any(cell.id not in solution.explained for cell in cells):
            ways = _least(_Row(problem, solution, recipes[row.id], cells), composer)
            yield SolvedRow(id=row.id, ways=tuple(ways))


@dataclass(frozen=True, eq=False)
class _Row:
    """A row's recipe and printed numbers, and the solution that counts and rounds them."""

    problem: SearchProblem
    solution: Solution
    recipe: Recipe
    cells: Sequence[Cell]

    def find_fitting(self, table: Amounts) -> NDArray[np.bool_]:
        """Say for each reading whether a model's amounts under it, (readings, amounts), print as all of the cells."""
        fits = np.ones(len(table), dtype=np.bool_)
        for cell in self.cells:
            flops = cell.kind == "flops"
            rounding = self.solution.flops_rounding if flops else self.solution.parameter_rounding
            values = self._flops(table) if flops else parameters_in(table).get(self.solution.parameter_convention or "")
            if values is None or rounding is None:
                return np.zeros(len(table), dtype=np.bool_)
            least, most = cell.ranges[rounding]
            fits &= (least <= values) & (values <= most)
        return fits

    def missing(self, table: Amounts) -> int:
        """Return how much work the solution's reading lacks (above 0) or has too much for a FLOPs cell it misses."""
        place = self.solution.readings[self.recipe.family_name] if self.recipe.family_name and len(table) > 1 else 0
        value, rounding = int(self._flops(table)[place]), self.solution.flops_rounding
        for cell in self.cells:
            if cell.kind == "flops" and cell.id not in self.solution.explained and rounding is not None:
                least, most = cell.ranges[rounding]
                return max(least - value, 0) + min(most - value, 0)
        return 0

    def _flops(self, table: Amounts) -> Integers:
        weights = dict(zip(self.problem.classes, self.solution.weights, strict=True))
        by_class = [weights.get(name, weights.get(_TIED.get(name, ""), 0)) for name in CLASSES]
        total: Integers = work_in(table) @ np.array(by_class, dtype=np.int64)
        return total

    def readings(self, fits: NDArray[np.bool_], changes: int) -> Iterator[Way]:
        """Yield the changes on so many axes from the solution's reading to one that fits."""
        family = self.recipe.family_name
        if family is None or len(fits) == 1:
            if not changes and fits[0]:
                yield ()
            return
        space = self.problem.spaces[family]
        places = np.indices(space.shape).reshape(len(space.shape), -1)
        now = places[:, self.solution.readings[family]]
        for index in np.flatnonzero(fits & ((places != now[:, np.newaxis]).sum(axis=0) == changes)):
            yield tuple(
                SolvedChange(axis=axis, was=values[was], becomes=values[becomes])
                for (axis, values), was, becomes in zip(space.axes, now, places[:, index], strict=True)
                if was != becomes
            )


def _least(row: _Row, composer: Composer) -> list[Way]:
    """Return all ways to explain the row's numbers by the fewest changes; none where more than MOST are needed."""
    variants = list(_change_recipe(row, composer))
    for changes in range(1, MOST + 1):
        found = [(*varied, *rest) for varied, fits in variants for rest in row.readings(fits, changes - len(varied))]
        if found:
            return found
    return []


def _change_recipe(row: _Row, composer: Composer) -> Iterator[tuple[Way, NDArray[np.bool_]]]:
    """Yield the row as it is, and with one change of its recipe, and which readings explain it then."""
    yield (), row.find_fitting(composer.table(row.recipe))
    for change, recipe in with_other_blocks(row.recipe, composer.mlps(row.recipe)):
        with suppress(BuildError):  # a kernel larger than its grid
            yield (change,), row.find_fitting(composer.table(recipe))
    for fields in other_forms(row.recipe):
        with suppress(BuildError):  # a ResNet without bottlenecks
            table = composer.table(row.recipe.with_change(fields))
            yield tuple(_describe_field(row.recipe, *field) for field in fields.items()), row.find_fitting(table)
    missing, side = row.missing(composer.table(row.recipe)), composer.side(row.recipe)
    for change, recipe in with_other_sides(row.recipe, side, larger=missing > 0) if missing and side else ():
        with suppress(BuildError):  # patches that do not divide such a side
            table = composer.table(recipe)
            yield (change,), row.find_fitting(table)
            if row.missing(table) * missing <= 0:
                return  # work never shrinks when images grow, so larger images miss the number by more


def _describe_field(recipe: Recipe, name: str, value: object) -> SolvedChange:
    return SolvedChange(axis=name, was=write_value(getattr(recipe, name)), becomes=write_value(value))
