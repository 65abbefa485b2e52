"""The report for a terminal: a table per paper's table, what was found, and a count."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from imlp_audit.report.layout import PASSES, CellChecks, cells, findings, measured, others, summary
from imlp_audit.result import AuditResult, Check, Kind, PaperHead, TableHead, Verdict

STYLES = {
    Verdict.REPRODUCED: "green",
    Verdict.REPRODUCED_UNDER: "cyan",
    Verdict.DIFFERS: "bold red",
    Verdict.INCONSISTENT: "bold red",
    Verdict.UNVERIFIABLE: "dim",
    Verdict.WAIVED: "yellow",
    Verdict.ERROR: "bold magenta",
}


def terminal(result: AuditResult, width: int, *, colour: bool) -> str:
    """Write a result for a terminal of the given width."""
    out = StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=colour,
        no_color=not colour,
        highlight=False,
        legacy_windows=False,
    )
    for paper in result.papers:
        console.print(f"[bold]{escape(paper.id)}[/] {escape(paper.title)}", soft_wrap=True)
        for table in paper.tables:
            _print_table(console, result, paper, table)
        _print_others(console, result, paper)
    _print_findings(console, findings(result))
    console.print(summary(result), soft_wrap=True)
    return out.getvalue()


def _print_table(console: Console, result: AuditResult, paper: PaperHead, head: TableHead) -> None:
    """Print a table's counted cells; of columns that cannot be counted, only how many there are."""
    found = list(cells(result, paper, head))
    if not found:
        return
    table = Table(title=escape(f"Table {head.id}: {head.title}"), title_justify="left", title_style="italic")
    table.add_column("model", no_wrap=True)
    table.add_column("column")
    table.add_column("printed", justify="right")
    table.add_column("measured", justify="right")
    table.add_column("gap", justify="right")
    table.add_column("verdict", no_wrap=True)
    label = None
    for cell in found:
        if cell.cell.measured is not None or cell.cell.verdict is Verdict.ERROR:
            table.add_row(escape(cell.row.label) if cell.row is not label else "", *_columns(cell))
            label = cell.row
    if table.rows:
        console.print(table)
    else:
        console.print(f"[italic]{escape(f'Table {head.id}: {head.title}')}[/]", soft_wrap=True)
    for line in _footer(found):
        console.print(f"  {escape(line)}", soft_wrap=True, style="dim")


def _columns(found: CellChecks) -> tuple[str | Text, ...]:
    check = found.cell
    change = f" ({found.delta.printed})" if found.delta else ""
    return (
        escape(found.column.heading),
        f"{check.printed or '?'}{change}",
        measured(check.measured),
        check.gap or "",
        _verdict(check),
    )


def _verdict(check: Check) -> Text:
    under = f" {', '.join(check.under)}" if check.under else ""
    return Text(
        f"{check.verdict.value.removesuffix('_under')}{' under' if under else ''}{under}",
        style=STYLES[check.verdict],
    )


def _footer(found: list[CellChecks]) -> Iterator[str]:
    """Say what is not in the table: cells nothing can be counted for, and printed changes."""
    missing: dict[tuple[str, str], int] = {}
    for one in found:
        if one.cell.verdict is Verdict.UNVERIFIABLE:
            key = (one.column.heading, one.cell.reason)
            missing[key] = missing.get(key, 0) + 1
    for (heading, reason), count in missing.items():
        yield f"{heading}: {count} unverifiable: {reason}"
    deltas = [one.delta for one in found if one.delta]
    by_measurement = [one.delta_measured for one in found if one.delta_measured]
    for name, checks in (("printed cells", deltas), ("measured values", by_measurement)):
        if checks:
            yield f"printed changes against the {name}: {_counts(checks)}"


def _counts(checks: list[Check]) -> str:
    counted = {verdict: sum(check.verdict is verdict for check in checks) for verdict in Verdict}
    return ", ".join(f"{count} {verdict.value}" for verdict, count in counted.items() if count)


def _print_others(console: Console, result: AuditResult, paper: PaperHead) -> None:
    for kind in (Kind.MARK, Kind.REPEAT, Kind.COLUMN, Kind.CLAIM, Kind.WAIVER):
        checks = others(result, paper, kind)
        if checks:
            console.print(f"{kind.value}s: {_counts(checks)}", soft_wrap=True)
        for check in checks:
            if check.verdict not in PASSES and kind is Kind.CLAIM:
                told = f"  {check.id.rpartition('/')[2]}: {check.reason}"
                console.print(Text.assemble(_verdict(check), told), soft_wrap=True)


def _print_findings(console: Console, checks: list[Check]) -> None:
    if checks:
        console.print(f"\n[bold]{len(checks)} findings[/]")
    for check in checks:
        place = f"{check.source.file}:{check.source.line}"
        console.print(Text.assemble(_verdict(check), f" {check.id} printed {check.printed}"), soft_wrap=True)
        console.print(f"  {escape(check.reason)}", soft_wrap=True)
        for hint in check.hints:
            console.print(f"  hint: {escape(hint)}", soft_wrap=True)
        console.print(f"  {escape(place)}", style="dim", soft_wrap=True)
