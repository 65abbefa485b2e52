"""The votes of a paper's counted cells, and what its hypothesis allows a cell to be judged under."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from imlp_audit.checks.context import Context, NotMeasuredError, own_convention
from imlp_audit.checks.fit import Measured
from imlp_audit.checks.hypotheses import Clarity, VoteGroup, allowed_roundings
from imlp_audit.checks.power import Judged
from imlp_audit.checks.printed import Countable, countable, totalled_cells
from imlp_audit.checks.tally import DeclaredOptions, Tally, Vote
from imlp_audit.numbers.printed import Rounding
from imlp_audit.numbers.words import count_of
from imlp_audit.spec.paper import CellRef, Paper, repeated_row, rows_of


def column_of(cell: CellRef) -> str:
    """Return the name of the group of cells that share a convention."""
    return f"{cell.row.table.value.table}/{cell.column_id}"


def judge_paper(paper: Paper, context: Context) -> Judged:
    """Judge the votes of a paper: its counted cells that could be measured. A number printed twice votes once."""
    cells = [counted for row in rows_of(paper) for counted in totalled_cells(row)]
    voters = _find_voters(cells)
    votes = [_vote(one, context) for one in cells if voters[one.cell.id] == one.cell.id]
    return Judged.of(Tally.of([vote for vote in votes if vote is not None], _declared(paper, context)), voters)


def with_hypotheses(context: Context, papers: Sequence[Paper]) -> Context:
    """Return the context with a hypothesis for each paper that has counted cells, all of them judged together."""
    judged = {paper.id: judge_paper(paper, context) for paper in papers}
    return replace(context, judged={name: one for name, one in judged.items() if one.tally.votes})


def _declared(paper: Paper, context: Context) -> DeclaredOptions:
    read = context.conventions(paper)
    cells = [CellRef(row, name) for row in rows_of(paper) for name in row.row.printed]
    columns = {column_of(cell): cell.column for cell in cells if cell.column.measure.totalled}
    conventions = {name: read.declared_for_column(column) for name, column in columns.items()}
    measures = {name: column.measure.value for name, column in columns.items()}
    fits = paper.about.value.fitted
    unproven = frozenset(name for name, fit in fits.items() if fit.explained <= fit.by_chance)
    own = {measure.value: rules for measure, rules in paper.about.value.rounding_of.items()}
    return DeclaredOptions(read.roundings, tuple(read.readings), conventions, measures, unproven, own)


def _find_voters(cells: Sequence[Countable]) -> dict[str, str]:
    """Return the cell that votes for each: the first that prints the same number of the same model.

    A row says that it prints another's numbers again (`repeats`), or gives an equal model.
    """
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
        return self.allows_reading(one.reading) and (
            self.convention is None or one.convention in (self.counters or self.convention.allowed)
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
    def name(self) -> str:
        """The options that the hypothesis leaves to the cell: "reading released, convention no_head"."""
        groups = {"reading": self.reading, "convention": self.convention}
        return ", ".join(
            f"{kind} {' or '.join(map(str, one.allowed))}" for kind, one in groups.items() if one is not None
        )

    @property
    def support(self) -> dict[tuple[str, str], str]:
        """How many numbers follow under each option that was not chosen, beside the one that was."""
        groups = {"reading": self.reading, "convention": self.convention, "rounding": self.rounding}
        return {
            (kind, str(option)): _compare_scores(group, option)
            for kind, group in groups.items()
            if group is not None
            for option in group.scores
            if option != group.winner
        }

    @property
    def weak(self) -> bool:
        """Whether a pass may be luck: the rounding rule, the reading or the convention is not a clear choice."""
        groups = (self.rounding, self.reading, self.convention)
        return any(group is not None and group.choice is Clarity.WEAK for group in groups)


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
    rounding = found.roundings.get(judged.tally.options.rounding_group(column_of(cell)))
    rules = context.conventions(paper).roundings_of(cell.column)
    frame = Frame(allowed_roundings(rounding) if rounding is not None else rules, rounding, reading, convention)
    if convention is None or convention.choice is not Clarity.MIXED:
        return frame
    declared, _ = context.measurements(cell.row, counted.recipe, cell.column)
    intervals = [cell.printed.interval(rule) for rule in frame.roundings]
    fitting = (one for one in frame.select(declared) if any(one.value in interval for interval in intervals))
    return replace(frame, counters=frozenset(one.convention for one in fitting if not one.uncounted))


def _column_group(cell: CellRef, judged: Judged) -> VoteGroup | None:
    """Return the group of a cell's column, or that of the cell that votes for it where its own column has no votes."""
    _, table, _, column = judged.voters.get(cell.id, cell.id).split("/")
    found = judged.hypothesis.conventions
    return found.get(column_of(cell), found.get(f"{table}/{column}"))
