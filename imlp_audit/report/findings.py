"""Findings: checks that fail, and those that the spec declares as known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from imlp_audit.records.check import Check, CheckKind
from imlp_audit.report.document import Block, Heading, Inline, Item, List, Paragraph, Table, code, faint
from imlp_audit.report.verdicts import verdict_span


def new_findings(checks: Sequence[Check], *, places: bool = False) -> Iterator[Block]:
    """Yield a list of checks that fail; with `places`, each with its file and line."""
    if checks:
        yield List(tuple(_finding(check, places=places) for check in checks))
    else:
        yield Paragraph("None except those that the spec declares as known.")


def _finding(check: Check, *, places: bool) -> Item:
    printed = f" printed {check.printed}" if check.printed is not None else ""
    below: list[Inline] = [check.reason]
    if check.kind is CheckKind.EQUATION:
        below.append(f"{check.place}: {check.statement}")
    below += [f"hint: {hint}" for hint in check.hints]
    below += [faint(f"{check.source.file}:{check.source.line}")] if places else []
    return Item((verdict_span(check.verdict), " ", code(check.id), printed), tuple(below))


def known_findings(checks: Sequence[Check]) -> Iterator[Block]:
    """Yield the known findings, grouped by the reason that they share."""
    if not checks:
        return
    yield Heading("Known findings")
    groups: dict[str, list[Check]] = {}
    for check in checks:
        groups.setdefault(check.waiver or "", []).append(check)
    header = ("check", "verdict", "printed", "what was found")
    for reason, group in groups.items():
        yield Heading(reason, 3)
        rows = ((code(c.id), (c.finding or c.verdict).value, c.printed or "", c.reason) for c in group)
        yield Table(header, tuple(rows))
