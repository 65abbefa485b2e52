"""What its paper's hypothesis allows a cell to be judged under, and how a comparison becomes a record."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from imlp_audit.checks.comparison import Comparison, Measured, Ways, fitting
from imlp_audit.checks.context import Context, NotMeasuredError, own_convention
from imlp_audit.checks.hypothesis_clarity import Clarity, JudgedPaper, VoteGroup, allowed_roundings
from imlp_audit.checks.votes import DeclaredOptions, Vote, Votes
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.interval import EXACT, decimal_text
from imlp_audit.numbers.printed import Printed, Rounding
from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import NO_MODEL, CellCheck, DeltaCheck, Verdict
from imlp_audit.spec.columns import Column, Measure, image_of
from imlp_audit.spec.paper import CellRef, Paper, RowRef, repeated_row
from imlp_audit.spec.plan import CellPlan, DeltaPlan

C = TypeVar("C", CellCheck, DeltaCheck)


@dataclass(frozen=True)
class Countable:
    """A cell whose number can be counted from its row's model."""

    cell: CellRef
    recipe: Recipe


def countable(cell: CellRef) -> Countable | str:
    """Return the cell with its model, or what is missing for it to be counted."""
    recipe = cell.recipe
    measure = cell.column.measure
    if not measure.counted or (measure.totalled and cell.column.needs):
        return f"needs {cell.column.needs}"
    return NO_MODEL if recipe is None else Countable(cell, recipe)


def missing_for(cell: CellRef) -> str | None:
    """Return what is missing for a cell to be counted, if anything."""
    found = countable(cell)
    return found if isinstance(found, str) else None


def totalled_cells(row: RowRef) -> list[Countable]:
    """Return the cells of a row that hold totals over its model."""
    cells = [countable(cell) for name in row.row.printed if (cell := CellRef(row, name)).column.measure.totalled]
    return [cell for cell in cells if isinstance(cell, Countable)]


def unless_missing(comparison: Comparison, context: Context, paper: Paper, *recipes: Recipe) -> Comparison:
    """Return the comparison; where a reading failed that might have given the number, it cannot be judged to differ."""
    if comparison.verdict is Verdict.DIFFERS:
        for recipe in recipes:
            unless_counted(context, paper, recipe)
    return comparison


def unless_counted(context: Context, paper: Paper, recipe: Recipe) -> None:
    """Raise NotMeasuredError where a declared reading of a model failed, which might have made a difference."""
    failed = next(iter(context.failures(paper, recipe)), None)
    if failed is not None:
        raise NotMeasuredError(failed)


def record_unmeasured(kind: type[C], plan: CellPlan | DeltaPlan, printed: Printed, unit: str, missing: str) -> C:
    """Record that a number cannot be checked, and what is missing."""
    return kind(
        id=plan.id, verdict=Verdict.UNVERIFIABLE, reason=missing, source=plan.source, printed=printed.text, unit=unit
    )  # fmt: skip


def write_images(column: Column) -> str:
    """Say on which images a column's numbers were counted, where these are its own."""
    image = image_of(column)
    return f", counted on images of {image[0]} x {image[1]}" if image is not None else ""


def record_fit(kind: type[C], plan: CellPlan | DeltaPlan, printed: Printed, unit: str, comparison: Comparison) -> C:
    """Record a comparison."""
    deciding = comparison.deciding
    return kind(
        id=plan.id,
        verdict=comparison.verdict,
        reason=f"{comparison.reason}{write_images(plan.cell.column)}",
        source=plan.source,
        printed=printed.text,
        unit=unit,
        interval=interval_ends(printed, comparison.rounding),
        measured=decimal_text(deciding.value, EXACT),
        gap=decimal_text(printed.gap(deciding.value), 1),
        reading=deciding.reading,
        convention=deciding.convention,
        rounding=comparison.rounding,
        under=comparison.under,
        also=comparison.also,
        hints=comparison.hints,
    )


def record_cell(cell: CellRef, verdict: Verdict, reason: str) -> CellCheck:
    """Record a cell with nothing measured."""
    return CellCheck(
        id=cell.id,
        verdict=verdict,
        reason=reason,
        source=cell.row.table.source("rows", cell.row.index, "printed", cell.column_id),
        place=cell.place,
        printed=cell.printed.text,
        unit=cell.unit,
    )


def interval_ends(printed: Printed, rounding: Rounding) -> tuple[str, str]:
    """Return the interval_ends of the interval that a number stands for, as text."""
    interval = printed.interval(rounding)
    return decimal_text(interval.low, EXACT), decimal_text(interval.high, EXACT)


def column_of(cell: CellRef) -> str:
    """Return the name of the group of cells that share a convention."""
    return f"{cell.row.table.value.table}/{cell.column_id}"


def cells_of_column(paper: Paper, column: str) -> Iterator[CellRef]:
    """Yield the cells of a column that `column_of` names."""
    table, _, name = column.partition("/")
    cells = (row.cell(name) for row in paper.rows if row.table.value.table == table)
    yield from (cell for cell in cells if cell is not None)


def judge_paper(paper: Paper, context: Context) -> JudgedPaper:
    """Judge the votes of a paper: its counted cells that could be measured. A number printed twice votes once."""
    cells = [counted for row in paper.rows for counted in totalled_cells(row)]
    voters = _find_voters(cells)
    votes = [_vote(one, context) for one in cells if voters[one.cell.id] == one.cell.id]
    return JudgedPaper.of(Votes.of([vote for vote in votes if vote is not None], _declared(paper, context)), voters)


def with_hypotheses(context: Context, papers: Sequence[Paper]) -> Context:
    """Return the context with a hypothesis for each paper that has counted cells, all of them judged together."""
    judged = {paper.id: judge_paper(paper, context) for paper in papers}
    return replace(context, judged={name: one for name, one in judged.items() if one.votes.each})


def _declared(paper: Paper, context: Context) -> DeclaredOptions:
    read = context.conventions(paper)
    cells = [CellRef(row, name) for row in paper.rows for name in row.row.printed]
    columns = {column_of(cell): cell.column for cell in cells if cell.column.measure.totalled}
    conventions = {name: read.declared_for_column(column) for name, column in columns.items()}
    measures = {name: column.measure.value for name, column in columns.items()}
    fits = paper.about.value.fitted
    unproven = frozenset(name for name, fit in fits.items() if fit.explained <= fit.by_chance)
    own = {measure.value: rules for measure, rules in paper.about.value.rounding_of.items()}
    return DeclaredOptions(read.roundings, tuple(read.readings), conventions, measures, unproven, own)


def _find_voters(cells: Sequence[Countable]) -> dict[str, str]:
    """Return the cell that votes for each: the first with the same number of the same model, or that it repeats."""
    counted = {one.cell.id: one for one in cells}
    voters: dict[str, str] = {}
    same: dict[Hashable, str] = {}
    for name, one in counted.items():
        origin = _origin(one.cell, counted)
        cell = counted[origin].cell
        number = (cell.printed.value * cell.printed.scale, cell.printed.step * cell.printed.scale)
        own = own_convention(cell.row.row, cell.column)
        voters[name] = same.setdefault((counted[origin].recipe.essence(), cell.column.measure, *number, own), origin)
    return voters


def _origin(cell: CellRef, counted: Mapping[str, Countable]) -> str:
    """Return the first cell of those that a cell repeats, one after the other; of a circle the first in the paper."""
    seen = [cell.id]
    while True:
        twin = repeated_row(cell.row, [cell.row.paper])
        again = twin.cell(cell.column_id) if twin is not None else None
        if again is None or again.id not in counted:
            return seen[-1]
        if again.id in seen:
            circle = seen[seen.index(again.id) :]
            return next(name for name in counted if name in circle)
        seen.append(again.id)
        cell = again


def _vote(counted: Countable, context: Context) -> Vote | None:
    """Return the vote of a cell; None where it could not be measured, which its own check says."""
    cell, recipe = counted.cell, counted.recipe
    try:
        declared, _ = context.measurements(cell.row, recipe, cell.column)
    except NotMeasuredError:
        return None
    values = {(one.reading, str(one.convention)): one.value for one in declared if not one.uncounted}
    family = context.conventions(cell.row.paper).family_of(recipe)
    return Vote(cell.id, column_of(cell), family, cell.printed, values, has_own_counter(cell))


def has_own_counter(cell: CellRef) -> bool:
    """Return whether the row states its own convention for a cell, so that it does not vote on its column's."""
    return own_convention(cell.row.row, cell.column) is not None


def is_stated(cell: CellRef) -> bool:
    """Return whether the spec says how a number was counted: for FLOPs, by a list of counters or the row's own."""
    about = cell.row.paper.about.value
    return cell.column.measure is not Measure.FLOPS or bool(about.flops) or has_own_counter(cell)


def may_accuse(row: RowRef, context: Context) -> bool:
    """Return whether a row's numbers may be found wrong: its model is given, or known by other evidence."""
    identity = context.identities.get(row.id)
    return identity is None or identity.accuses


@dataclass(frozen=True)
class Frame:
    """What a cell is judged under: its rounding rules, and the groups whose choices bind it.

    In a column of two counters `counters` are those that explain the cell's number.
    """

    roundings: tuple[Rounding, ...]
    rounding: VoteGroup | None = None
    reading: VoteGroup | None = None
    convention: VoteGroup | None = None
    counters: frozenset[str | None] = frozenset()

    def allows(self, one: Measured) -> bool:
        """Return whether a measurement is under an option that the hypothesis leaves to the cell."""
        counted = self.convention is None or one.convention in (self.counters or self.convention.allowed)
        return counted and self.allows_reading(one.reading)

    def select(self, declared: Iterable[Measured]) -> list[Measured]:
        """Return the measurements that are allowed, those under the best supported options first."""
        return sorted(filter(self.allows, declared), key=self._departures)

    def ways(
        self, declared: Sequence[Measured], rules: Sequence[Rounding], undeclared: Sequence[Measured] = ()
    ) -> Ways:
        """Return the ways to measure a number that it may be judged by, of declared measurements and rules."""
        return Ways(declared, self.select(declared), self.roundings, rules, undeclared, support=self.support)

    def _departures(self, one: Measured) -> int:
        pairs = ((self.reading, one.reading), (self.convention, one.convention))
        return sum(group is not None and name != group.winner for group, name in pairs)

    def allows_reading(self, name: str | None) -> bool:
        """Return whether the hypothesis leaves a reading to the cell."""
        return self.reading is None or name in self.reading.allowed

    @property
    def name(self) -> str:
        """The options that the hypothesis leaves to the cell: "reading released, convention no_head"."""
        named = (pair for pair in self._groups.items() if pair[0] != "rounding")
        return ", ".join(f"{kind} {' or '.join(map(str, one.allowed))}" for kind, one in named)

    @property
    def _groups(self) -> dict[str, VoteGroup]:
        groups = {"reading": self.reading, "convention": self.convention, "rounding": self.rounding}
        return {kind: one for kind, one in groups.items() if one is not None}

    @property
    def support(self) -> dict[tuple[str, str], str]:
        """How many numbers follow under each option that was not chosen, beside the one that was."""
        return {
            (kind, str(option)): _compare_scores(group, option)
            for kind, group in self._groups.items()
            for option in group.scores
            if option != group.winner
        }

    @property
    def weak(self) -> bool:
        """Whether a pass may be luck: the rounding rule, the reading or the convention is not a clear choice."""
        return any(group.choice is Clarity.WEAK for group in self._groups.values())


def _compare_scores(group: VoteGroup, option: str | None) -> str:
    """Write how many numbers follow under the chosen option, and how many under another."""
    if group.choice is Clarity.SHARED:
        return f"the paper's other tables follow under {group.winner}"
    chosen = f"{group.scores[group.winner]} of {count_of(group.votes, 'number')} follow under {group.winner}"
    return f"{chosen}, {group.scores[option]} under {option}"


def frame_of(cell: CellRef, context: Context) -> Frame:
    """Return what a cell is judged under; one that does not vote, under all that is declared."""
    paper = cell.row.paper
    judged = context.judged.get(paper.id)
    counted = countable(cell) if judged is not None and cell.column.measure.totalled else ""
    if judged is None or isinstance(counted, str):
        return Frame(context.conventions(paper).roundings_of(cell.column))
    family, found = context.conventions(paper).family_of(counted.recipe), judged.hypothesis
    reading = found.readings.get(family) if family is not None else None
    convention = None if has_own_counter(cell) else _column_group(cell, judged)
    rounding = found.roundings.get(judged.votes.options.rounding_group(column_of(cell)))
    rules = context.conventions(paper).roundings_of(cell.column)
    frame = Frame(allowed_roundings(rounding) if rounding is not None else rules, rounding, reading, convention)
    if convention is None or convention.choice is not Clarity.MIXED:
        return frame
    declared, _ = context.measurements(cell.row, counted.recipe, cell.column)
    fit = fitting(cell.printed, frame.select(declared), frame.roundings)
    return replace(frame, counters=frozenset(one.convention for one in fit))


def _column_group(cell: CellRef, judged: JudgedPaper) -> VoteGroup | None:
    """Return the group of a cell's column, or that of the cell that votes for it where its own column has no votes."""
    _, table, _, column = judged.voters.get(cell.id, cell.id).split("/")
    found = judged.hypothesis.conventions
    return found.get(column_of(cell), found.get(f"{table}/{column}"))
