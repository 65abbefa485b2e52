"""The smallest changes of a single row that would explain all its numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from imlp_audit.errors import BuildError
from imlp_audit.models.change import write_value
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.relatives import other_forms
from imlp_audit.records.solution import SolvedChange, SolvedRow
from imlp_audit.solve.answer import Solution
from imlp_audit.solve.compose import Composer
from imlp_audit.solve.problem import Cell, Integers, SearchProblem
from imlp_audit.solve.space import CLASSES, Counts, parameters_in, work_in

MOST = 2
"""The most places in which a row may change; more would not be an explanation."""

Way: TypeAlias = tuple[SolvedChange, ...]


def find_row_changes(
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

    def find_fitting(self, table: Counts) -> NDArray[np.bool_]:
        """Say for each reading whether a model's counts under it, (readings, counts), print as all of the cells."""
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

    def missing(self, table: Counts) -> int:
        """Return how much work the solution's reading lacks (above 0) or has too much for a FLOPs cell it misses."""
        place = self.solution.readings[self.recipe.family_name] if self.recipe.family_name and len(table) > 1 else 0
        value, rounding = int(self._flops(table)[place]), self.solution.flops_rounding
        for cell in self.cells:
            if cell.kind == "flops" and cell.id not in self.solution.explained and rounding is not None:
                least, most = cell.ranges[rounding]
                return max(least - value, 0) + min(most - value, 0)
        return 0

    def _flops(self, table: Counts) -> Integers:
        weights = dict(zip(self.problem.classes, self.solution.weights, strict=True))
        by_class = [weights.get(name, 0) for name in CLASSES]
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
        now = self.solution.readings[family]
        for index in np.flatnonzero(fits & (space.count_apart(now) == changes)).tolist():
            yield space.changes(now, index)


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
    for change, recipe in _with_other_blocks(row.recipe, composer.mlps(row.recipe)):
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


# The sides that published classifiers take; the kernels and ratios around those of IMLP's Tables 1 and 5.
SIDES = (160, 192, 224, 256, 288, 300, 320, 336, 380, 384, 448, 456, 480, 512, 528, 576, 600)
KERNELS = (1, 3, 5, 7, 9)
RATIOS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0)

Variation: TypeAlias = tuple[SolvedChange, Recipe]
Edit: TypeAlias = tuple[SolvedChange, Mapping[str, object]]
"""What differs, in words and as a recipe writes it."""


def _with_other_blocks(recipe: Recipe, mlps: Sequence[str]) -> Iterator[Variation]:
    """Yield recipes whose IMLP blocks differ in one place, with what differs; `mlps` are the host's."""
    for change, fields in _blocks(recipe, mlps):
        varied = _edit(recipe, fields)
        if varied is not None:
            yield change, varied


def with_other_sides(recipe: Recipe, side: int, *, larger: bool) -> Iterator[Variation]:
    """Yield the recipes with images larger than their own `side`, or smaller ones, the nearest first."""
    for other in sorted(SIDES, reverse=not larger):
        varied = _edit(recipe, {"image": other}) if (other > side if larger else other < side) else None
        if varied is not None:
            yield SolvedChange(axis="image", was=str(side), becomes=str(other)), varied


def _edit(recipe: Recipe, change: Mapping[str, object]) -> Recipe | None:
    """Return the recipe with some fields changed; None where no such model exists."""
    try:
        return recipe.with_change(change)
    except ValidationError:
        return None


def _blocks(recipe: Recipe, mlps: Sequence[str]) -> Iterator[Edit]:
    """Yield other kernels, ratios and places of IMLP blocks."""
    block = recipe.imlp
    if block is None or recipe.mlp is None:
        return
    for kernel in KERNELS:
        if kernel != block.kernel:
            yield (
                SolvedChange(axis="kernel", was=str(block.kernel), becomes=str(kernel)),
                {"mlp": {"imlp": {"kernel": kernel}}},
            )
    for ratio in RATIOS:
        if ratio != block.ratio:
            yield (
                SolvedChange(axis="ratio", was=f"{block.ratio:g}", becomes=f"{ratio:g}"),
                {"mlp": {"imlp": {"ratio": ratio}}},
            )
    if recipe.mlp.sites == ("*",):
        for name, sites in _sites(mlps):
            yield SolvedChange(axis="sites", was="all", becomes=name), {"mlp": {"sites": sites}}


def _sites(mlps: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the MLPs of some but not all stages; for a host without stages, some of its MLPs."""
    stages: dict[str, list[str]] = {}
    for path in mlps:
        stages.setdefault(stage_of(path), []).append(path)
    if len(stages) == 1:
        yield from ((f"{number} of {len(mlps)}", tuple(mlps[:number])) for number in range(1, len(mlps)))
        return
    for number in range(1, len(stages)):
        for chosen in combinations(stages, number):
            name = " and ".join(f"{stage}.*" for stage in chosen)
            yield name, tuple(path for stage in chosen for path in stages[stage])


def stage_of(path: str) -> str:
    """Return where a block is, "stages.1" of the MLP "stages.1.blocks.0.mlp", "blocks" of "blocks.0.mlp"."""
    return re.sub(r"(\.blocks)?\.\d+\.mlp$", "", path)
