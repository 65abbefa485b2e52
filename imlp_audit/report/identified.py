"""What proposals came to: how many rows were identified, how each column was counted, which labels mislead."""

from __future__ import annotations

from collections.abc import Iterator

from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import CellCheck, Identified
from imlp_audit.records.paper import PaperHead, TableHead
from imlp_audit.records.result import AuditResult, ColumnScore
from imlp_audit.report.document import Block, Heading, Item, List
from imlp_audit.report.judging import group_of_column
from imlp_audit.report.text import shorten

_MOST = 8  # leads and tables that are listed; the rest is counted
_LONGEST = 160


def identified_rows(result: AuditResult) -> dict[str, Identified]:
    """Return by what each row with candidates is known, by its full id."""
    cells = result.of_kind(CellCheck)
    return {check.id.rpartition("/")[0]: check.identified for check in cells if check.identified is not None}


def list_leads(result: AuditResult) -> Iterator[Block]:
    """Yield the numbers that their rows' likely models have not: questions, which fail nothing."""
    checks = [one for one in result.of_kind(CellCheck) if one.lead]
    by_row: dict[str, CellCheck] = {}
    for one in checks:
        by_row.setdefault(one.id.rpartition("/")[0], one)
    if leads := list(by_row.values()):
        yield Heading(f"Leads ({len(leads)})", 3)
        items = [
            f"{(one.place or one.id).rpartition(', ')[0]}: {shorten(one.reason, _LONGEST)}" for one in leads[:_MOST]
        ]
        more = [count_of(len(leads) - _MOST, "more lead")] if len(leads) > _MOST else []
        yield List((*items, *more))


def summarize_identified(result: AuditResult) -> Iterator[Item]:
    """Yield a line for each table with candidates: its identified rows, and how its columns were counted."""
    rows = identified_rows(result)
    lines = [
        f"{table.name or f'Table {table.id}'}: {_describe_table(result, paper, table, rows)}"
        for paper in result.papers
        for table in paper.tables
        if any(name.startswith(f"{paper.id}/{table.id}/") for name in rows)
    ]
    more = [count_of(len(lines) - _MOST, "more table")] if len(lines) > _MOST else []
    yield from (Item(one, label="identified") for one in (*lines[:_MOST], *more))


def _describe_table(result: AuditResult, paper: PaperHead, table: TableHead, rows: dict[str, Identified]) -> str:
    own = [how for name, how in rows.items() if name.startswith(f"{paper.id}/{table.id}/")]
    known = sum(how is not Identified.NO for how in own)
    by_name = own.count(Identified.NAME)
    named = f", {by_name} of them by the names of others" if by_name else ""
    counted = [
        f"{column.heading} counted by {_describe_counter(score)}"
        for column in table.columns
        if column.measure == "flops" and not paper.flops and (score := _score(result, paper, table, column.id))
    ]
    return "; ".join([f"{known} of {count_of(len(own), 'row')} by their numbers{named}", *counted])


def _score(result: AuditResult, paper: PaperHead, table: TableHead, column: str) -> ColumnScore | None:
    hypothesis = result.hypotheses.get(paper.id)
    score = group_of_column(hypothesis, f"{table.id}/{column}") if hypothesis is not None else None
    return score if score is not None and score.group.votes else None


def _describe_counter(score: ColumnScore) -> str:
    """Name the counter that explains most numbers, with the next best."""
    group = score.group
    most = group.scores.get(str(group.winner), 0)
    best = [str(name) for name, explained in group.scores.items() if explained == most]
    others = sorted(((n, str(name)) for name, n in group.scores.items() if n < most), reverse=True)
    after = f"; next best {others[0][1]} {others[0][0]}" if others else ""
    return f"{' or '.join(best)} (not stated; explains {most} of {group.votes}{after})"
