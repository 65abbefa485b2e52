"""What cells were judged under: at each table in a line, and for the paper with the scores of every option."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from imlp_audit.numbers.words import count_of
from imlp_audit.records.hypothesis import Caught, ColumnScore, GroupScore, PaperHypothesis
from imlp_audit.records.paper import PaperHead, TableHead
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import Block, Heading, Item, List, Paragraph, Table, code, number_columns


def table_hypothesis(result: AuditResult, paper: PaperHead, table: TableHead) -> Iterator[Block]:
    """Yield a line for each counted column of a table."""
    hypothesis = result.hypotheses.get(paper.id)
    if hypothesis is None:
        return
    headings = {f"{table.id}/{column.id}": column.heading for column in table.columns}
    lines = []
    for column in hypothesis.columns:
        if column.group.name in headings:
            readings = _readings(result, f"{paper.id}/{table.id}/", column.group.name.rpartition("/")[2])
            lines.append(Item(describe_column(column, readings), label=headings[column.group.name]))
    if lines:
        yield List(tuple(lines))


def _readings(result: AuditResult, table: str, column: str) -> list[str]:
    """Return the readings that the numbers of a column are judged under."""
    names = (
        check.reading
        for check in result.checks
        if check.id.startswith(table) and check.id.rpartition("/")[2] == column and check.reading is not None
    )
    return list(dict.fromkeys(names))


def describe_column(column: ColumnScore, readings: list[str]) -> str:
    """Say under what a column was judged, how the other options do, and how much its passes say."""
    return "; ".join(_column_parts(column, readings))


def _column_parts(column: ColumnScore, readings: list[str]) -> Iterator[str]:
    group = column.group
    if group.winner is not None and group.votes:
        chosen = " + ".join(part for part in (" or ".join(readings), group.winner) if part)
        yield f"{chosen} {group.scores.get(group.winner, 0)} of {group.votes}{_describe_choice(group)}"
        others = [f"{name} {score}" for name, score in group.scores.items() if name != group.winner]
        if others:
            yield ", ".join(others)
    yield f"{count_of(column.passing, 'number')} of the column pass{'es' if column.passing == 1 else ''}, " + (
        f"by chance {column.by_chance} would"
    )
    if column.power.ten.tried:
        yield (
            f"of the wrong numbers within ten digits {_describe_caught(column.power.ten)} would have been caught, "
            f"one digit away {_describe_caught(column.power.one)}"
        )


def _describe_caught(caught: Caught) -> str:
    return "all" if caught.caught == caught.tried else f"{caught.caught} of {caught.tried}"


def _describe_choice(group: GroupScore) -> str:
    """Say how well a choice is founded, where it isn't clear."""
    match group.choice:
        case "clear" | "only":
            return ""
        case "shared":
            return " (chosen with the paper's other columns)"
        case "weak":
            return " (not a clear choice: each number is judged alone)"
        case _:
            assert_never(group.choice)


def paper_hypothesis(hypothesis: PaperHypothesis) -> Iterator[Block]:
    """Yield the hypothesis of a paper, with the score of every declared option."""
    yield Heading("What the counted numbers were judged under", 3)
    yield Paragraph(
        (
            "The numbers are judged together: a reading for each family of models, a convention for each column and a "
            f"rounding rule for the paper. The best choice explains {hypothesis.explained} of "
            f"{count_of(hypothesis.votes, 'number')}; numbers are rounded ",
            code(hypothesis.rounding),
            ".",
        )
    )
    header = ("of", "chosen", "choice", "numbers explained by each option", "numbers", "by chance at most")
    rows = [(f"readings of {group.name}", *_scores(group)) for group in hypothesis.readings]
    rows += [(f"column {column.group.name}", *_scores(column.group)) for column in hypothesis.columns]
    yield Table(header, tuple(rows), number_columns(header, 4))


def _scores(group: GroupScore) -> tuple[str, str, str, str, str]:
    scores = ", ".join(f"{name} {score}" for name, score in group.scores.items())
    return (group.winner or "", group.choice, scores, str(group.votes), str(group.chance))
