"""Which model a row is of where candidates are proposed: printed numbers confirm one, and accuse only what others name.

Printed parameters identify rows first; then a counter and a size of images are chosen for each column of FLOPs on the
candidates whose parameters fit. No number takes part in identifying the model that it is found wrong by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import log, prod

from imlp_audit.checks.candidate_counts import (
    TableCounts,
    candidates_of,
    cells_of,
    contradicts,
    key_of,
    proposals,
    says,
)
from imlp_audit.checks.context import Context
from imlp_audit.checks.matches_by_chance import (
    BY_CHANCE,
    RowIdentity,
    are_settled,
    at_least,
    chance,
    find_misprinted,
    matches,
)
from imlp_audit.count.facts import ModelKey, Need
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.relatives import name_in_library
from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.words import list_some
from imlp_audit.records.check import Identified
from imlp_audit.spec.columns import Measure
from imlp_audit.spec.paper import CellRef, Paper, RowRef, rows_of_table
from imlp_audit.spec.schema import Row

_LIKELY = 0.1  # chance, from which on coincidences explain what a table has of its models
_NOUNS = {Measure.PARAMETERS: "parameters", Measure.FLOPS: "FLOPs"}


def parameters_needed(papers: Sequence[Paper], context: Context) -> Mapping[ModelKey, Need]:
    """Return what to count first: the parameters of all candidates."""
    rows = [(paper, row) for paper in papers for row in proposals(paper)]
    return {key_of(paper, one, context): Need() for paper, row in rows for one in candidates_of(row)}


def work_needed(papers: Sequence[Paper], context: Context) -> Mapping[ModelKey, Need]:
    """Return what to count then: the work of the candidates whose parameters fit, on images of several sizes."""
    return {
        key_of(paper, sized, context): Need(work=True)
        for paper in papers
        if proposals(paper)
        for table in paper.tables
        for sized in TableCounts(paper, table, context).to_count()
    }


def identify(papers: Sequence[Paper], context: Context) -> Mapping[str, RowIdentity]:
    """Return what the numbers say about each row with candidates, by its id."""
    return {
        name: one
        for paper in papers
        if proposals(paper)
        for table in paper.tables
        for name, one in _TableRows(TableCounts(paper, table, context)).identities.items()
    }


def with_models(paper: Paper, found: Mapping[str, RowIdentity]) -> Paper:
    """Return a paper whose rows have the models that they were identified to be of."""

    def resolve(row: RowRef) -> Row:
        return row.row.model_copy(update={"model": found[row.id].model}) if row.id in found else row.row

    return replace(
        paper,
        tables=tuple(
            replace(one, value=one.value.model_copy(update={"rows": tuple(map(resolve, rows_of_table(paper, one)))}))
            for one in paper.tables
        ),
    )


@dataclass(frozen=True)
class _TableRows:
    """The rows of a table, and what is measured of their candidates."""

    counts: TableCounts

    @cached_property
    def identities(self) -> Mapping[str, RowIdentity]:
        """What the numbers say about each row with candidates."""
        return {row.id: self._identity(row) for row in self.counts.proposed}

    def _identity(self, row: RowRef) -> RowIdentity:
        model, how = self._known(row)
        if model is None or how is None:
            return self._unknown(row)
        sized, _ = self.counts.on_images(row, model)
        plain = row.row.named or self._follow(self._beyond_names, row)
        accuses = plain and how is not Identified.ALL and says(row, model) and self._has_peers(row)
        doubted, rivals = self._doubted(row, model), self._rivals(row, model)
        alike = tuple(map(str, rivals or self._alike(row, model)))
        known = Identified.ONE_OF if rivals else how
        return RowIdentity(sized, known, "", accuses=accuses, doubted=doubted, alike=alike)

    def _has_peers(self, row: RowRef) -> bool:
        """Return whether other rows of its variant follow: a pruned model is not held to what the plain ones have."""
        alike = {one.id for one in self.counts.rows if one.row.variant == row.row.variant}
        return self._follow({name: follows for name, follows in self._whole.items() if name in alike}, row)

    @cached_property
    def _whole(self) -> Mapping[str, bool]:
        """Whether all numbers of a row follow from its model, where it is given or the label says it."""
        return {
            row.id: any(self.counts.has_size(row, one) and self.counts.on_images(row, one)[1] for one in said)
            for row in self.counts.rows
            if (said := [row.row.model] if row.row.model else [one for one in candidates_of(row) if says(row, one)])
        }

    def _rivals(self, row: RowRef, model: Recipe) -> list[Recipe]:
        """Return the other models that a label which names none may mean, and that print alike but are not equal."""
        if row.row.named:
            return []
        counts = self.counts
        others = [one for one in counts.survivors(row) if one != model and not contradicts(row, one)]
        fitting = [one for one in others if counts.has_size(row, one) and counts.on_images(row, one)[1]]
        return [one for one in fitting if counts.differ(one, model)] if counts.on_images(row, model)[1] else []

    def _alike(self, row: RowRef, model: Recipe) -> list[Recipe]:
        """Return the other candidates that were counted and have all that the model has of a row's numbers."""

        def printed(one: Recipe) -> list[set[int]]:
            return [{v for v in self.counts.possible(cell, one) if matches(cell.printed, v)} for cell in cells_of(row)]

        return [one for one in self.counts.survivors(row) if one != model and printed(one) == printed(model)]

    def _doubted(self, row: RowRef, model: Recipe) -> Mapping[str, Recipe]:
        """Return the columns whose number another candidate that was counted has, each with the first of these."""
        return {
            cell.column_id: one
            for cell in cells_of(row)
            for one in reversed([one for one in self.counts.survivors(row) if one != model])
            if any(
                matches(cell.printed, value)
                for value in self.counts.possible(cell, one, every=True) - self.counts.possible(cell, model, every=True)
            )
        }

    def _known(self, row: RowRef) -> tuple[Recipe | None, Identified | None]:
        first = candidates_of(row)[0]
        fitting = [one for one in candidates_of(row) if self.counts.has_size(row, one) and not contradicts(row, one)]
        following = [one for one in fitting if self.counts.on_images(row, one)[1]]
        near = [one for one in fitting if self._is_near(row, one)] or fitting
        meant = [one for one in following if not row.row.named or name_in_library(one) == name_in_library(near[0])]
        best = min(meant or near[:1], key=lambda one: self._count_cut(row, one), default=None)
        # with another head, or deployed
        varied = any(name_in_library(one) == name_in_library(first) for one in fitting)
        if first not in fitting and not varied and self._is_named(row):
            return first, Identified.NAME
        if cells_of(row, Measure.PARAMETERS) and best is not None:
            if len({self._counts(row, one) for one in fitting}) == 1 and self._expected(row) <= BY_CHANCE:
                return best, Identified.NUMBERS
            if row.id in self.counts.together:
                return best, Identified.TOGETHER
        if self._is_named(row):
            return first, Identified.NAME
        if following and says(row, following[0]) and self._expected(row, whole=True) <= BY_CHANCE:
            return following[0], Identified.ALL
        return None, None

    def _count_cut(self, row: RowRef, recipe: Recipe) -> int:
        """Return how many of a row's numbers a model does not round to: 7.88 is 7.8 cut off, 7.81 rounded."""
        values = [(cell.printed.interval(), self.counts.possible(cell, recipe)) for cell in cells_of(row)]
        return sum(not any(value in rounded for value in found) for rounded, found in values)

    def _is_near(self, row: RowRef, recipe: Recipe) -> bool:
        """Return whether some counter gives about each of a row's FLOPs on some images: patches of 8 or 16."""
        values = [
            (abs(cell.printed.value * cell.printed.scale), self.counts.possible(cell, recipe, every=True))
            for cell in cells_of(row, Measure.FLOPS)
        ]
        return all(any(2 * v < 3 * stated and 2 * stated < 3 * v for v in found) for stated, found in values if found)

    def _counts(self, row: RowRef, recipe: Recipe) -> tuple[frozenset[int], ...]:
        """Return what a model has of the parameters that a row prints: models are one if they have the same."""
        sizes = [(one.printed, self.counts.sizes_left(one, recipe)) for one in cells_of(row, Measure.PARAMETERS)]
        return tuple(frozenset(size for size in left if matches(printed, size)) for printed, left in sizes)

    def _expected(self, row: RowRef, *, whole: bool = False) -> float:
        """Return how many candidates are expected to have a row's parameters, or all its numbers, by chance."""
        cells = cells_of(row, None if whole else Measure.PARAMETERS)
        combinations = {tuple(self.counts.possible(cell, one) for cell in cells) for one in candidates_of(row)}
        return sum(
            prod(chance(cell.printed, set(values)) for cell, values in zip(cells, one, strict=True))
            for one in combinations
        )

    @cached_property
    def _as_named(self) -> Mapping[str, bool]:
        """Whether a row follows from the model that is given or that its label names: by its parameters, if printed."""

        def follows(row: RowRef) -> bool:
            model = row.row.model or candidates_of(row)[0]
            sized = bool(cells_of(row, Measure.PARAMETERS))
            return self.counts.has_size(row, model) if sized else self.counts.on_images(row, model)[1]

        return {row.id: follows(row) for row in self.counts.rows if row.row.model is not None or row.row.named}

    @cached_property
    def _of_first(self) -> Mapping[str, bool]:
        """Whether a row's first candidate has its parameters, of the rows that print any."""
        rows = [row for row in self.counts.proposed if cells_of(row, Measure.PARAMETERS)]
        return {row.id: self.counts.has_size(row, candidates_of(row)[0]) for row in rows}

    @cached_property
    def _beyond_names(self) -> Mapping[str, bool]:
        """Whether all numbers of a row follow from a candidate of its size, of rows whose labels are no names alone."""
        return {
            row.id: any(self.counts.on_images(row, one)[1] for one in fitting)
            for row in self.counts.proposed
            if not row.row.named and cells_of(row, Measure.PARAMETERS) and cells_of(row, Measure.FLOPS)
            if (fitting := [one for one in candidates_of(row) if self.counts.has_size(row, one) and says(row, one)])
        }

    def _is_named(self, row: RowRef) -> bool:
        """Return whether a row's name is evidence: other names of the table hold, and one of its own numbers does."""
        own = any(self.counts.fits(cell, candidates_of(row)[0]) for cell in cells_of(row))
        return row.row.named and own and self._follow(self._as_named, row)

    @staticmethod
    def _follow(found: Mapping[str, bool], row: RowRef) -> bool:
        """Return whether enough rows besides one follow, and few do not."""
        others = [follows for name, follows in found.items() if name != row.id]
        return are_settled(sum(others), len(others) - sum(others))

    def _unknown(self, row: RowRef) -> RowIdentity:
        """Return what to say about a row that no numbers identify: its nearest candidates, and how far they are."""
        cells, likely = cells_of(row), self._likely(row)
        if likely is not None and (has := self._write(cells, likely)):
            return RowIdentity(None, Identified.NO, f"not identified: is it {likely.name}? Then {has}", lead=True)
        near = sorted(candidates_of(row), key=lambda one: self._distance(row, one))[:2]
        nearest = "; ".join(f"{one.name} has {text}" for one in near if (text := self._write(cells, one)))
        count = len(row.row.candidates)
        which = f"which of {count} candidates it is, if any" if count > 1 else f"that it is {near[0].name}"
        if all(self.counts.fits(cell, near[0]) for cell in cells):
            which = f"whether it is {near[0].name}, as so few digits are those of other models too"
        failed = [message for one in row.row.candidates if (message := self.counts.failure(one)) is not None]
        added = f"; the nearest: {nearest}" if nearest else ""
        added += f"; not counted: {list_some(failed, 2)}" if failed else ""
        return RowIdentity(None, Identified.NO, f"not identified: its numbers do not tell {which}{added}")

    def _likely(self, row: RowRef) -> Recipe | None:
        """Return the model that a row may mean although it has not all its numbers."""
        first = candidates_of(row)[0]
        fits = [self.counts.fits(one, first) for one in cells_of(row)]
        if self._is_of_others or all(fits):
            return None
        typed = self._find_mistyped(row, [first]) or self._find_mistyped(row, candidates_of(row))
        likely = row.row.named or any(fits) or self._follow(self._of_first, row)
        return typed or (first if likely and says(row, first, whole=not any(fits)) else None)

    def _find_mistyped(self, row: RowRef, recipes: Sequence[Recipe]) -> Recipe | None:
        """Return the model that has a number of a row but for one digit, where that is hardly chance."""
        for cell in cells_of(row):
            values = {value: one for one in reversed(recipes) for value in self.counts.possible(cell, one)}
            value = find_misprinted(cell.printed, values, BY_CHANCE)
            if value is not None:
                return values[value]
        return None

    @cached_property
    def _is_of_others(self) -> bool:
        """Whether the rows that name models have no more of their numbers than by chance: a table of detectors, say."""
        rows = [row for row in self.counts.proposed if row.row.named]
        firsts = [candidates_of(row)[0] for row in rows]
        return (
            len(rows) > 1
            and self._is_luck(rows, [[one] for one in firsts])
            and self._is_luck(rows, [firsts] * len(rows))
        )

    def _is_luck(self, rows: Sequence[RowRef], models: Sequence[Sequence[Recipe]]) -> bool:
        """Return whether few rows have a number of one of their models, or as many as would by chance."""
        hits, odds = 0, []
        for row, some in zip(rows, models, strict=True):
            found = [(c.printed, {v for one in some for v in self.counts.possible(c, one)}) for c in cells_of(row)]
            hits += any(matches(printed, value) for printed, values in found for value in values)
            odds.append(min(1.0, sum(chance(printed, values) for printed, values in found)))
        return 5 * hits <= len(rows) or at_least(hits, odds) > _LIKELY

    def _write(self, cells: Sequence[CellRef], recipe: Recipe) -> str:
        """Write what a model has for each cell, beside what is printed."""
        found = [(cell, self._nearest(cell, recipe)) for cell in cells]
        return ", ".join(
            f"{readable(Fraction(value))} {self._noun(cell, recipe, value)}, not {_with_unit(cell)}"
            if not matches(cell.printed, value)
            else f"{_with_unit(cell)} {_NOUNS[cell.column.measure]}"
            for cell, value in found
            if value is not None
        )

    def _noun(self, cell: CellRef, recipe: Recipe, value: int) -> str:
        """Return what was counted, of FLOPs also how."""
        how = f" {self.counts.works(cell, recipe)[value]}" if cell.column.measure is Measure.FLOPS else ""
        return f"{_NOUNS[cell.column.measure]}{how}"

    def _nearest(self, cell: CellRef, recipe: Recipe) -> int | None:
        """Return what to compare a cell with: all parameters, or the kind that the table counts; the nearest FLOPs."""
        if cell.column.measure is Measure.PARAMETERS:
            sizes = self.counts.sizes(cell, recipe)
            return sizes.get(self.counts.part or "", next(iter(sizes.values()), None))
        stated = cell.printed.value * cell.printed.scale
        return min(self.counts.possible(cell, recipe), key=lambda value: abs(value - stated), default=None)

    def _distance(self, row: RowRef, recipe: Recipe) -> float:
        """Return how far the parameters of a model are from a row's, in powers of e."""
        cell = next(iter(cells_of(row, Measure.PARAMETERS)), None)
        value = self._nearest(cell, recipe) if cell is not None else None
        stated = abs(cell.printed.value * cell.printed.scale) if cell is not None else 0
        return abs(log(value / stated)) if value and stated else float("inf")


def _with_unit(cell: CellRef) -> str:
    text = cell.printed.text
    return f"{text} {cell.unit}" if cell.unit and text[-1].isdigit() else text
