"""What cells were judged under: at each table in a line, and for the paper with the scores of every option."""

from __future__ import annotations

from collections.abc import Iterator

from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import CountedCheck
from imlp_audit.records.paper import ColumnHead, PaperHead, TableHead
from imlp_audit.records.result import AuditResult, ColumnScore, FitScore, GroupScore, PaperHypothesis
from imlp_audit.report.document import Block, Heading, Item, List, Paragraph, Table, code, number_columns
from imlp_audit.report.hypotheses import describe_column, group_of_column, write_chance
from imlp_audit.report.own_counters import describe_own_counters


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
