"""What cells were judged under: at each table in a line, and for the paper with the scores of every option."""

from __future__ import annotations

from collections.abc import Iterator

from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import Caught, CountedCheck, Power
from imlp_audit.records.paper import ColumnHead, PaperHead, TableHead
from imlp_audit.records.result import AuditResult, ColumnScore, FitScore, GroupScore, PaperHypothesis
from imlp_audit.report.document import Block, Heading, Item, List, Paragraph, Table, code, number_columns

_CHOICES = {
    "only": "the options give the same values",
    "clear": "a clear choice",
    "mixed": "two counters in one column",
    "shared": "as in the paper's other tables",
    "weak": "not a clear choice, so each number was judged alone",
}


def describe_group(group: GroupScore) -> str:
    """Return the chosen option with its score, those of the others, and how sure the choice is."""
    others = ", ".join(f"{name} {score}" for name, score in group.scores.items() if name != group.winner)
    best = f"{group.winner}, which explains {group.scores.get(str(group.winner), 0)} of {group.votes}"
    return f"{best}{f' ({others})' if others else ''}{f', {_CHOICES[group.choice]}{_rival(group)}' if others else ''}"


def _rival(group: GroupScore) -> str:
    """Name the second counter of a mixed column, and what settles which row has which."""
    if group.rival is None:
        return ""
    alone = f"{group.rival} explains {count_of(group.alone[group.rival], 'number')} that {group.winner} does not"
    return f": {alone}; `counted_by` in a row settles which of them made its number"


def describe_power(power: Power) -> str:
    """Return how many of the wrong numbers that were tried would not have passed."""
    return (
        f"{_of(power.ten)} wrong numbers within ten last digits would not have passed, {_of(power.one)} one digit away"
    )


def _of(part: Caught) -> str:
    return f"{part.caught} of {part.tried}"


def describe_column(score: ColumnScore) -> str:
    """Return a column's convention with its score, and what its passes are worth."""
    worth = describe_power(score.power) if score.power.one.tried else ""
    passing = f"{score.passing} of its numbers {'passes' if score.passing == 1 else 'pass'}"
    chance = f"{passing}, {score.by_chance} would pass by chance"
    fit = f"its weights were fitted: {describe_fit(score.fit)}" if score.fit is not None else ""
    group = describe_group(score.group) if score.group.votes else "none of its numbers takes part in the choice"
    return "; ".join(part for part in (group, fit, chance, worth) if part)


def describe_fit(fit: FitScore) -> str:
    """Return what a search explained, beside what it explains by chance."""
    return f"the search explained {fit.explained} of {fit.of} numbers, by chance it explains at most {fit.by_chance}"


def write_chance(group: GroupScore, fit: FitScore | None) -> str:
    """Return the best score of luck: of the search that fitted the winner, which had more to choose from, if one did.

    A search may be over more numbers than the group's.
    """
    if fit is None:
        return str(group.chance)
    return f"{fit.by_chance} of {fit.of}" if fit.of != group.votes else str(fit.by_chance)


def group_of_column(hypothesis: PaperHypothesis, column: str) -> ColumnScore | None:
    """Return the score of a column, which is named table/column."""
    return next((score for score in hypothesis.columns if score.group.name == column), None)


def describe_own_counters(result: AuditResult, paper: PaperHead, table: TableHead, column: ColumnHead) -> str:
    """Return which selected rows of a column state their own counter, and why; an empty text where none does."""
    rows: dict[tuple[str, str], list[str]] = {}
    for row, convention, because in _own_counters(result, paper, table, column):
        rows.setdefault((convention, because), []).append(row)
    if not rows:
        return ""
    named = "; ".join(
        f"{convention} for {', '.join(names)} (because: {because})" for (convention, because), names in rows.items()
    )
    return f"{_count(sum(map(len, rows.values())))}: {named}"


def _count(rows: int) -> str:
    return f"{'a counter of its' if rows == 1 else 'counters of their'} own for {count_of(rows, 'row')}"


def _own_counters(
    result: AuditResult, paper: PaperHead, table: TableHead, column: ColumnHead
) -> Iterator[tuple[str, str, str]]:
    """Yield the row, the convention and the reason of each selected number that a row's own counter counts."""
    selected = {check.id for check in result.checks}
    for row in table.rows:
        if f"{paper.id}/{table.id}/{row.id}/{column.id}" in selected:
            yield from ((row.id, own.convention, own.because) for own in row.counters if own.measure == column.measure)


def table_hypothesis(result: AuditResult, paper: PaperHead, table: TableHead) -> Iterator[Block]:
    """Yield a line for each counted column of a table, and below it the rows that state their own counter."""
    lines = []
    for column in table.columns:
        judged = _judged_under(result, paper, table, column)
        own = describe_own_counters(result, paper, table, column)
        if judged or own:
            lines.append(Item(judged or own, (own,) if judged and own else (), label=column.heading))
    if lines:
        yield List(tuple(lines))


def _judged_under(result: AuditResult, paper: PaperHead, table: TableHead, column: ColumnHead) -> str:
    """Say under what a column was judged, and what its passes are worth; an empty text for one that is not counted."""
    hypothesis = result.hypotheses.get(paper.id)
    score = None if hypothesis is None else group_of_column(hypothesis, f"{table.id}/{column.id}")
    if hypothesis is None or score is None:
        return ""
    winners = {group.winner for group in hypothesis.readings}
    found = _readings(result, f"{paper.id}/{table.id}/", column.id)
    readings = [name for name in found if name in winners] or found  # most baselines have only the default
    return _line(score, readings)


def _line(column: ColumnScore, readings: list[str]) -> str:
    under = f"{' or '.join(readings)} + " if readings and column.group.votes else ""
    return f"{under}{describe_column(column)}"


def _readings(result: AuditResult, table: str, column: str) -> list[str]:
    """Return the readings that the numbers of a column are judged under."""
    names = (
        check.reading
        for check in result.of_kind(CountedCheck)
        if check.id.startswith(table) and check.id.rpartition("/")[2] == column and check.reading is not None
    )
    return list(dict.fromkeys(names))


def paper_hypothesis(hypothesis: PaperHypothesis) -> Iterator[Block]:
    """Yield the hypothesis of a paper, with the score of every declared option."""
    yield Heading("What the counted numbers were judged under", 3)
    yield Paragraph(
        (
            "The numbers are judged together: a reading for each family of models, a convention for each column and a "
            f"rounding rule for the paper. The best choice explains {hypothesis.explained} of "
            f"{count_of(hypothesis.votes, 'number')}; numbers are rounded ",
            code(hypothesis.rounding),
            *(part for group in hypothesis.rounding_of for part in (f", {group.name} ", code(str(group.winner)))),
            ".",
        )
    )
    header = ("of", "chosen", "choice", "numbers explained by each option", "numbers", "by chance at most")
    rows = [("rounding rules", *_scores(hypothesis.roundings))] if hypothesis.roundings is not None else []
    rows += [(f"rounding rules of {group.name}", *_scores(group)) for group in hypothesis.rounding_of]
    rows += [(f"readings of {group.name}", *_scores(group)) for group in hypothesis.readings]
    rows += [
        (f"column {column.group.name}", *_scores(column.group, column.fit))
        for column in hypothesis.columns
        if column.group.votes
    ]
    yield Table(header, tuple(rows), number_columns(header, 4))


def _scores(group: GroupScore, fit: FitScore | None = None) -> tuple[str, str, str, str, str]:
    scores = ", ".join(f"{name} {score}" for name, score in group.scores.items())
    return (group.winner or "", group.choice, scores, str(group.votes), write_chance(group, fit))
