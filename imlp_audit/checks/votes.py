"""The votes of a paper's counted cells, and what its hypothesis allows a cell to be judged under."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from imlp_audit.checks.context import Context, NotMeasuredError, own_convention
from imlp_audit.checks.fit import Measured
from imlp_audit.checks.hypotheses import Choice, Group, Hypothesis, Options, Tally, Vote, chances_of, judge
from imlp_audit.checks.printed import countable, totalled_cells
from imlp_audit.numbers.printed import Rounding
from imlp_audit.records.hypothesis import GroupScore, PaperHypothesis
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.references import CellRef, RowRef, repeated_row, rows_of


def column_of(cell: CellRef) -> str:
    """Return the name of the group of cells that share a convention."""
    return f"{cell.row.table.value.table}/{cell.column_id}"


def tally_of(paper: Paper, context: Context) -> Tally:
    """Count the votes of a paper: its counted cells that could be measured. A number printed twice votes once."""
    votes = [vote for row in rows_of(paper) for vote in _votes_of_row(row, context)]
    read = context.conventions(paper)
    conventions = {
        column_of(cell): read.declared_for_column(cell.column)
        for row in rows_of(paper)
        for name in row.row.printed
        if (cell := CellRef(row, name)).column.measure.totalled
    }
    columns = {vote.column: conventions[vote.column] for vote in votes}
    return Tally.of(votes, Options(read.roundings, tuple(read.readings), columns))


def with_hypotheses(context: Context, papers: Sequence[Paper]) -> Context:
    """Return the context with a hypothesis for each paper that has counted cells, all of them judged together."""
    tallies = {paper.id: tally for paper in papers if (tally := tally_of(paper, context)).votes}
    return replace(context, hypotheses={name: judge(tally, chances_of(tally)) for name, tally in tallies.items()})


def _votes_of_row(row: RowRef, context: Context) -> Iterator[Vote]:
    twin = repeated_row(row, [row.paper])
    for counted in totalled_cells(row):
        cell, recipe = counted.cell, counted.recipe
        if twin is not None and twin.cell(cell.column_id) is not None:
            continue
        try:
            declared, _ = context.measurements(row, recipe, cell.column)
        except NotMeasuredError:  # its own check says so
            continue
        values = {(one.reading, str(one.convention)): one.value for one in declared if not one.uncounted}
        yield Vote(cell.id, column_of(cell), recipe.family, cell.printed, values, _has_own_counter(cell))


def _has_own_counter(cell: CellRef) -> bool:
    return own_convention(cell.row.row, cell.column) is not None


def record_hypothesis(found: Hypothesis) -> PaperHypothesis:
    """Put a hypothesis on record."""
    return PaperHypothesis(
        rounding=found.rounding,
        explained=found.explained,
        votes=found.votes,
        readings=tuple(map(_record_group, found.readings.values())),
        conventions=tuple(_record_group(group) for group in found.conventions.values() if group.votes),
    )


def _record_group(group: Group) -> GroupScore:
    scores = {str(option): score for option, score in group.scores.items()}
    return GroupScore(
        name=group.name, winner=group.winner, votes=group.votes, scores=scores, chance=group.chance,
        choice=group.choice.value,
    )  # fmt: skip


@dataclass(frozen=True)
class Frame:
    """What a cell is judged under: its rounding rules, and the groups whose choices bind it."""

    roundings: tuple[Rounding, ...]
    reading: Group | None = None
    convention: Group | None = None

    def allows(self, one: Measured) -> bool:
        """Return whether a measurement is under an option that the hypothesis leaves to the cell."""
        return self.allows_reading(one.reading) and (
            self.convention is None or one.convention in self.convention.allowed
        )

    def select(self, declared: Iterable[Measured]) -> list[Measured]:
        """Return the measurements that are allowed, those under the best supported options first."""
        return sorted(filter(self.allows, declared), key=self._departures)

    def _departures(self, one: Measured) -> int:
        pairs = ((self.reading, one.reading), (self.convention, one.convention))
        return sum(group is not None and name != group.winner for group, name in pairs)

    def allows_reading(self, name: str | None) -> bool:
        """Return whether the hypothesis leaves a reading to the cell."""
        return self.reading is None or name in self.reading.allowed

    @property
    def weak(self) -> bool:
        """Whether a pass may be luck: the reading or the convention is no clear choice."""
        return any(group is not None and group.choice is Choice.WEAK for group in (self.reading, self.convention))


def frame_of(cell: CellRef, context: Context) -> Frame:
    """Return what a cell is judged under; one that does not vote, under all that is declared."""
    paper = cell.row.paper
    found = context.hypotheses.get(paper.id)
    counted = countable(cell) if found is not None and cell.column.measure.totalled else ""
    if found is None or isinstance(counted, str):
        return Frame(context.conventions(paper).roundings)
    family = counted.recipe.family
    reading = found.readings.get(family) if family is not None else None
    convention = None if _has_own_counter(cell) else found.conventions.get(column_of(cell))
    return Frame((found.rounding,), reading, convention)
