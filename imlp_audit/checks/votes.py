"""The votes of a paper's counted cells, and what its hypothesis allows a cell to be judged under."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from imlp_audit.checks.context import Context, NotMeasuredError, own_convention
from imlp_audit.checks.fit import Measured
from imlp_audit.checks.hypotheses import Clarity, VoteGroup
from imlp_audit.checks.power import Judged
from imlp_audit.checks.printed import countable, totalled_cells
from imlp_audit.checks.tally import Declared, Tally, Vote
from imlp_audit.numbers.printed import Rounding
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.references import CellRef, RowRef, repeated_row, rows_of


def column_of(cell: CellRef) -> str:
    """Return the name of the group of cells that share a convention."""
    return f"{cell.row.table.value.table}/{cell.column_id}"


def tally_of(paper: Paper, context: Context) -> Tally:
    """Count the votes of a paper: its counted cells that could be measured. A number printed twice votes once."""
    votes = [vote for row in rows_of(paper) for vote in _votes_of_row(row, context)]
    read = context.conventions(paper)
    cells = [CellRef(row, name) for row in rows_of(paper) for name in row.row.printed]
    columns = {column_of(cell): cell.column for cell in cells if cell.column.measure.totalled}
    conventions = {name: read.declared_for_column(column) for name, column in columns.items()}
    measures = {name: column.measure.value for name, column in columns.items()}
    return Tally.of(votes, Declared(read.roundings, tuple(read.readings), conventions, measures))


def with_hypotheses(context: Context, papers: Sequence[Paper]) -> Context:
    """Return the context with a hypothesis for each paper that has counted cells, all of them judged together."""
    tallies = {paper.id: tally for paper in papers if (tally := tally_of(paper, context)).votes}
    return replace(context, judged={name: Judged.of(tally) for name, tally in tallies.items()})


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
        yield Vote(cell.id, column_of(cell), recipe.family, cell.printed, values, has_own_counter(cell))


def has_own_counter(cell: CellRef) -> bool:
    """Return whether the row states its own convention for a cell, so that it does not vote on its column's."""
    return own_convention(cell.row.row, cell.column) is not None


@dataclass(frozen=True)
class Frame:
    """What a cell is judged under: its rounding rules, and the groups whose choices bind it."""

    roundings: tuple[Rounding, ...]
    reading: VoteGroup | None = None
    convention: VoteGroup | None = None

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
        return any(group is not None and group.choice is Clarity.WEAK for group in (self.reading, self.convention))


def frame_of(cell: CellRef, context: Context) -> Frame:
    """Return what a cell is judged under; one that does not vote, under all that is declared."""
    paper = cell.row.paper
    judged = context.judged.get(paper.id)
    counted = countable(cell) if judged is not None and cell.column.measure.totalled else ""
    if judged is None or isinstance(counted, str):
        return Frame(context.conventions(paper).roundings)
    family, found = counted.recipe.family, judged.hypothesis
    reading = found.readings.get(family) if family is not None else None
    convention = None if has_own_counter(cell) else found.conventions.get(column_of(cell))
    return Frame((found.rounding,), reading, convention)
