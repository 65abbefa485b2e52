"""A paper's tables as it prints them: each number with the sign of its verdict, and what explains it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from imlp_audit.records.check import FAILS, Check, CheckKind, Verdict
from imlp_audit.records.paper import PaperHead, TableHead
from imlp_audit.records.result import AuditResult
from imlp_audit.report.cells import CellChecks, find_cells, find_hints, list_cells
from imlp_audit.report.document import (
    Block,
    GridCell,
    Heading,
    Inline,
    Item,
    List,
    MarkedTable,
    Paragraph,
    Plot,
    PrintedCell,
    Stamped,
    VerdictGrid,
    code,
    figure_file,
    join,
)
from imlp_audit.report.explained import explain_check
from imlp_audit.report.judged_under import table_hypothesis
from imlp_audit.report.linked import section_anchor
from imlp_audit.report.numbered import NumberedFinding
from imlp_audit.report.plots.gaps import find_gaps
from imlp_audit.report.plots.tradeoff import find_tradeoff
from imlp_audit.report.verdicts import CAVEATS, style_of, word_of

SIGNS = {
    Verdict.REPRODUCED: "✓",
    Verdict.REPRODUCED_UNDER: "✓*",
    Verdict.DIFFERS: "✗",
    Verdict.INCONSISTENT: "✗",
    Verdict.UNVERIFIABLE: "○",
    Verdict.ERROR: "!",
}
_REASONS = 3  # reasons for open numbers of a column that are written below a table
LEGEND = (
    "✓ follows from the model as the text describes it; ✓* follows under another reading, convention or rounding rule, "
    "which is named; ✗ does not follow, and F1, F2, ... is the finding that says why; ○ cannot be checked here; ! the "
    "check failed to run. After ✓, ƒ marks a number that its counter was fitted on, ‡ one in a column of two counters, "
    "and ~ a weak pass: too little speaks for this reading or counter and against the others."
)


def printed_tables(result: AuditResult, paper: PaperHead, findings: Mapping[str, NumberedFinding]) -> Iterator[Block]:
    """Yield a section for each table with its hypothesis; `findings` are by the ids of their checks."""
    sections = [(table, list(find_cells(result, paper, table))) for table in paper.tables]
    if not any(cells for _, cells in sections):
        return
    yield Heading("The tables as printed", anchor=section_anchor(CheckKind.CELL, paper.id))
    yield Paragraph(LEGEND)
    gaps = find_gaps(result, paper)
    if gaps is not None:
        yield Plot(figure_file(f"{paper.id}/printed-against-measured"), gaps.summary, gaps)
    for table, cells in sections:
        if cells:
            yield Heading(f"{table.called}: {table.title}", 3, f"table/{paper.id}/{table.id}")
            yield from table_hypothesis(result, paper, table)
            yield _lay_out(table, cells, findings)
            notes = tuple(_notes(cells))
            if notes:
                yield List(notes)
            yield from _figures(result, paper, table)


def verdict_grid(result: AuditResult, paper: PaperHead) -> Iterator[VerdictGrid]:
    """Yield a picture of the paper's tables, each number in the colour of its verdict, if any number is checked."""
    tables = []
    for table in paper.tables:
        cells = {(one.row.id, one.column.id): one.cell for one in find_cells(result, paper, table) if one.cell}
        columns = [column for column in table.columns if any(id_ == column.id for _, id_ in cells)]
        rows = tuple(
            tuple(_square(row.label, column.heading, cells.get((row.id, column.id))) for column in columns)
            for row in table.rows
            if any(id_ == row.id for id_, _ in cells)
        )
        if rows:
            tables.append((table.called, f"table/{paper.id}/{table.id}", rows))
    if tables:
        yield VerdictGrid(tuple(tables))


def _square(row: str, column: str, check: Check | None) -> GridCell | None:
    if check is None:
        return None
    meaning = f"{row}, {column} {check.printed}: {_meaning(check)}"
    return GridCell(meaning, SIGNS[check.verdict], style_of(check), check.id)


def _figures(result: AuditResult, paper: PaperHead, table: TableHead) -> Iterator[Plot]:
    """Yield the figure of a table: what its rows cost and score."""
    tradeoff = find_tradeoff(result, paper, table)
    if tradeoff is not None:
        yield Plot(figure_file(f"{paper.id}/table-{table.id}"), tradeoff.summary, tradeoff)


def _lay_out(table: TableHead, cells: Sequence[CellChecks], findings: Mapping[str, NumberedFinding]) -> MarkedTable:
    places = {(one.row.id, one.column.id): one for one in cells}
    columns = [head for head in table.columns if any(one.column is head for one in cells)]
    rows = tuple(
        (
            row.label,
            tuple(_print_cell(places.get((row.id, column.id)), findings) for column in columns),
        )
        for row in table.rows
        if any(one.row is row for one in cells)
    )
    return MarkedTable(("model", *(head.heading for head in columns)), rows, list_cells(cells))


def _print_cell(one: CellChecks | None, findings: Mapping[str, NumberedFinding]) -> PrintedCell | None:
    """Return a cell with all its checks; a printed change that two checks judge stands once, with the graver sign."""
    if one is None:
        return None
    numbers = [*([_stamp(one.cell, findings)] if one.cell else [])]
    changes = [check for check in (one.delta, one.delta_measured) if check is not None]
    if changes:
        numbers.append(_stamp(max(changes, key=lambda check: _GRAVITY.index(check.verdict)), findings))
    numbers += [_stamp(check, findings) for check in one.against]
    named = [
        ("", one.cell),
        ("The printed change, from the printed cells", one.delta),
        ("The printed change, from what was measured", one.delta_measured),
        *((f"Against {check.id.rpartition('.')[2]}", check) for check in one.against),
    ]
    explanation = tuple(
        block for title, check in named if check is not None for block in explain_check(check, findings, title)
    )
    first = next(check for _, check in named if check is not None)
    return PrintedCell(tuple(numbers), explanation, first.id.partition(".")[0])


_GRAVITY = [
    Verdict.REPRODUCED,
    Verdict.REPRODUCED_UNDER,
    Verdict.UNVERIFIABLE,
    Verdict.DIFFERS,
    Verdict.INCONSISTENT,
    Verdict.ERROR,
]


def _stamp(check: Check, findings: Mapping[str, NumberedFinding]) -> Stamped:
    sign = SIGNS[check.verdict] + "".join(CAVEATS[caveat].sign for caveat in check.caveats)
    found = findings.get(check.id) if check.verdict in FAILS else None
    finding = (found.name, found.anchor) if found else None
    return Stamped(check.printed or "?", sign, _meaning(check), style_of(check), finding)


def _meaning(check: Check) -> str:
    known = ("known",) if check.acknowledged else ()
    return ", ".join((word_of(check.verdict).replace("_", " "), *check.caveats, *known))


def _notes(cells: Sequence[CellChecks]) -> Iterator[Inline | Item]:
    """Yield what many cells have in common: what is missing to check them, and hints of those that pass."""
    missing = Counter(
        (one.column.heading, one.cell.reason)
        for one in cells
        if one.cell is not None and one.cell.verdict is Verdict.UNVERIFIABLE and not one.cell.evidence
    )
    for heading in dict.fromkeys(heading for heading, _ in missing):
        reasons = {reason: count for (of, reason), count in missing.items() if of == heading}
        listed = reasons if len(reasons) <= _REASONS else dict(list(reasons.items())[:1])
        for reason, count in listed.items():
            yield f"{heading}: {count} unverifiable: {reason}"
        rest = sum(reasons.values()) - sum(listed.values())
        if rest:
            yield f"{heading}: {rest} more unverifiable, for {len(reasons) - 1} other reasons: each number says its own"
    for hint, rows in find_hints(cells).items():
        yield ("note: ", hint, " (", *join(map(code, rows)), ")")
