"""The report for a terminal: a table per paper's table, what was found, and a count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from io import StringIO
from textwrap import shorten

from rich.console import Console
from rich.table import Table
from rich.text import Text

from imlp_audit.records.check import PASSES, Check, CheckKind, Verdict
from imlp_audit.records.paper import PaperHead, TableHead
from imlp_audit.records.result import AuditResult
from imlp_audit.report.evidence import SAMPLING, told, with_evidence
from imlp_audit.report.layout import GRAVEST_FIRST, CellChecks, cells, findings, leads, measured, others, summary

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
    console = Console(file=out, width=width, force_terminal=colour, no_color=not colour, legacy_windows=False)
    for paper in result.papers:
        _line(console, Text.assemble((paper.id, "bold"), f" {paper.title}"))
        for table in paper.tables:
            _print_table(console, result, paper, table)
        _print_evidence(console, with_evidence(result.of(paper)))
        _print_others(console, result, paper)
        _print_equations(console, result, paper)
    _print_findings(console, findings(result))
    _line(console, summary(result))
    return out.getvalue()


def _line(console: Console, text: str | Text, style: str = "") -> None:
    """Print a line as it is: no markup, no emoji, no wrapping."""
    console.print(Text(text) if isinstance(text, str) else text, style=style, soft_wrap=True)


def _print_table(console: Console, result: AuditResult, paper: PaperHead, head: TableHead) -> None:
    """Print a table's counted cells; of columns that cannot be counted, only how many there are."""
    found = list(cells(result, paper, head))
    if not found:
        return
    _line(console, f"Table {head.id}: {head.title}", style="italic")
    table = Table()
    table.add_column("model")
    table.add_column("column")
    for name in ("printed", "measured", "gap"):  # numbers stay whole; words make room for them
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict")
    label = None
    for one in found:
        if one.cell is not None and (one.cell.measured is not None or one.cell.verdict is Verdict.ERROR):
            table.add_row(Text(one.row.label if one.row is not label else ""), *_columns(one, one.cell))
            label = one.row
    if table.rows:
        console.print(table)
    for line in _footer(found):
        _line(console, f"  {line}", style="dim")


def _columns(found: CellChecks, check: Check) -> tuple[Text, ...]:
    change = f" ({found.delta.printed})" if found.delta else ""
    words = (found.column.heading, f"{check.printed or ''}{change}", measured(check.measured), check.gap or "")
    return (*map(Text, words), _verdict(check))


def _verdict(check: Check) -> Text:
    """Name the verdict, what it holds under, and of a waived check what was found."""
    name = "reproduced under" if check.verdict is Verdict.REPRODUCED_UNDER else check.verdict.value
    told = " ".join(part for part in (name, ", ".join(check.under), check.finding or "") if part)
    return Text(told, style=STYLES[check.verdict])


def _footer(found: list[CellChecks]) -> Iterator[str]:
    """Say what is not in the table: cells nothing can be counted for, and printed changes."""
    missing = Counter(
        (one.column.heading, one.cell.reason)
        for one in found
        if one.cell is not None and one.cell.verdict is Verdict.UNVERIFIABLE and not one.cell.evidence
    )
    for (heading, reason), count in missing.items():
        yield f"{heading}: {count} unverifiable: {reason}"
    for note, rows in leads(found).items():
        yield f"{note} ({', '.join(rows)})"
    deltas = [one.delta for one in found if one.delta]
    by_measurement = [one.delta_measured for one in found if one.delta_measured]
    for name, checks in (("printed cells", deltas), ("measured values", by_measurement)):
        if checks:
            yield f"printed changes against the {name}: {_counts(checks)}"


def _counts(checks: list[Check]) -> str:
    counted = {verdict: sum(check.verdict is verdict for check in checks) for verdict in Verdict}
    return ", ".join(f"{count} {verdict.value}" for verdict, count in counted.items() if count)


def _print_evidence(console: Console, checks: list[Check]) -> None:
    """Print what the numbers that needed a run rest on."""
    if not checks:
        return
    _line(console, "Evidence", style="italic")
    for check in checks:
        why = "" if check.verdict in GRAVEST_FIRST else f": {check.reason}"  # among the findings it is told
        _line(console, Text.assemble("  ", _verdict(check), f"  {check.id} printed {check.printed}{why}"))
        for evidence in check.evidence:
            _line(console, f"      {told(evidence)}", style="dim")
    if any("sampling" in check.under for check in checks):
        _line(console, f"  {SAMPLING}", style="dim")


def _print_others(console: Console, result: AuditResult, paper: PaperHead) -> None:
    for kind in (CheckKind.MARK, CheckKind.REPEAT, CheckKind.COLUMN, CheckKind.CLAIM, CheckKind.WAIVER):
        checks = others(result, paper, kind)
        if checks:
            _line(console, f"{kind.value}s: {_counts(checks)}")
        for check in checks:
            if check.verdict not in PASSES and kind is CheckKind.CLAIM:
                told = check.waiver or shorten(check.reason, 300, placeholder=" ...")
                _line(console, Text.assemble("  ", _verdict(check), f"  {check.id.rpartition('/')[2]}: {told}"))


def _print_equations(console: Console, result: AuditResult, paper: PaperHead) -> None:
    """Count the statements about functions, and print those that are not found true; all, where there is no other."""
    checks = others(result, paper, CheckKind.EQUATION)
    alone = len(checks) == len(result.of(paper).checks)
    if checks:
        _line(console, f"equations: {_counts(checks)}")
    for check in checks:
        if alone or check.verdict not in PASSES:
            told = f": {check.reason}" if check.verdict in PASSES or check.verdict is Verdict.WAIVED else ""
            _line(console, Text.assemble("  ", _verdict(check), f"  {check.id.rpartition('/')[2]}{told}"))
            if check.verdict is Verdict.WAIVED:
                _print_statement(console, check)


def _print_statement(console: Console, check: Check) -> None:
    """Print what a counterexample is held against: the words, the printed form, and the form that holds."""
    _line(console, f"      {check.statement}")
    _line(console, f"      printed, {check.place}: {check.printed}")
    for hint in check.hints:
        _line(console, f"      {hint}", style="dim")


def _print_findings(console: Console, checks: list[Check]) -> None:
    if checks:
        _line(console, f"\n{len(checks)} findings", style="bold")
    for check in checks:
        printed = f" printed {check.printed}" if check.printed is not None else ""
        _line(console, Text.assemble(_verdict(check), f" {check.id}{printed}"))
        _line(console, f"  {check.reason}")
        if check.kind is CheckKind.EQUATION:
            _line(console, f"  {check.place}: {check.statement}")
        for hint in check.hints:
            _line(console, f"  hint: {hint}")
        _line(console, f"  {check.source.file}:{check.source.line}", style="dim")
