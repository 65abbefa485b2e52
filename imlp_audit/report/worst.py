"""The worst findings in few lines: what is wrong, where, and the id to ask about."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import accumulate

from imlp_audit.numbers.words import count_of, list_some
from imlp_audit.records.check import Check, CheckKind
from imlp_audit.records.finding import Finding
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import (
    Block,
    Code,
    Heading,
    Inline,
    Item,
    List,
    Paragraph,
    Span,
    Style,
    code,
    plain_text,
)
from imlp_audit.report.findings import worst_first

_COLUMNS = 76  # of a terminal of 80 columns: what lines hold where long words are broken early
_FRAME = 3  # lines around a list of findings: a blank one, its heading, and "n more"
_LONGEST = 120  # characters of a title or a reason; longer ones end at a word


def shorten(text: str, most: int) -> str:
    """Return the words of a text that fit into so many columns, with three dots where some don't."""
    if _width(text) <= most:
        return text
    ends = accumulate(map(_width, text))
    kept = text[: sum(end <= most - 3 for end in ends)]
    return f"{kept[: kept.rfind(' ')] if ' ' in kept else kept}..."


def _width(text: str) -> int:
    """Return the columns that a text takes on a terminal: a Chinese character takes two."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def count_more(count: int, noun: str) -> tuple[str, ...]:
    """Return an entry that counts what a list leaves out, if it leaves out anything."""
    return (count_of(count, f"more {noun}"),) if count > 0 else ()


def list_worst(result: AuditResult, lines: int) -> Iterator[Block]:
    """Yield the findings that fit into so many lines: those that fail the run first, each kind with the gravest first.

    One that fails the run is listed however long it is.
    """
    checks = {check.id: check for check in result.checks}
    findings = worst_first(result)
    if not findings:
        yield Paragraph("No check fails.")
    for known in (False, True):
        group = [finding for finding in findings if finding.acknowledged is known]
        items = [_finding(finding, [checks[name] for name in finding.checks]) for finding in group]
        listed = items_that_fit(items, lines - _FRAME, at_least=0 if known else 1)
        lines -= sum(map(_lines_of_item, listed)) + (_FRAME if items else 0)
        if listed:
            yield Heading(_heading(group, known=known), 3)
            yield List((*listed, *count_more(len(items) - len(listed), "finding")))
        elif items:
            yield Paragraph(f"{_heading(group, known=known)}.")


def stale_entries(result: AuditResult) -> Iterator[Block]:
    """Yield the checks that are not as they were when they were acknowledged, and findings of which no check fails."""
    if result.stale:
        named = list_some([entry.check for entry in result.stale], 1)
        have = "has" if len(result.stale) == 1 else "have"
        changed = f"{count_of(len(result.stale), 'acknowledged check')} {have} changed ({named})"
        yield Paragraph((f"{changed}; run ", code("imlp-audit baseline"), " once you understand why."))
    if result.stale_findings:
        named = list_some([f"{found.source.file}:{found.source.line} {found.id}" for found in result.stale_findings], 1)
        explain = "explains" if len(result.stale_findings) == 1 else "explain"
        yield Paragraph(f"{count_of(len(result.stale_findings), 'finding')} {explain} no failing check: {named}.")


def _heading(findings: Sequence[Finding], *, known: bool) -> str:
    """Count findings and the failing checks that they explain."""
    state = "acknowledged" if known else "not acknowledged"
    count = count_of(sum(len(finding.checks) for finding in findings), "failing check")
    return f"{count_of(len(findings), 'finding')}, {state} ({count})"


def items_that_fit(items: Sequence[Item], lines: int, *, at_least: int) -> list[Item]:
    """Return the first items that fit into so many lines."""
    kept: list[Item] = []
    for item in items:
        lines -= _lines_of_item(item)
        if lines < 0 and len(kept) >= at_least:
            break
        kept.append(item)
    return kept


def lines_of(block: Block) -> int:
    """Return about how many lines a block of an overview takes at 80 columns, with the blank line before it."""
    match block:
        case List():
            entries = [item if isinstance(item, Item) else Item(item) for item in block.items]
            return 1 + sum(_lines_of_item(entry) for entry in entries)
        case Paragraph() | Heading():
            return 1 + _lines_of_text(block.text, _COLUMNS)
        case Code():
            return 2 + block.text.count("\n")
        case _:
            return 1


def _lines_of_item(item: Item, columns: int = _COLUMNS) -> int:
    rest = columns - (_width(item.label) or 2)
    below = sum(_lines_of_item(one if isinstance(one, Item) else Item(one), columns - 2) for one in item.items)
    return _lines_of_text(item.text, rest) + below


def _lines_of_text(text: Inline, columns: int) -> int:
    lines, used = 1, 0
    for width in map(_width, plain_text(text).split()):
        if used and used + 1 + width > columns:
            lines, used = lines + 1, 0
        used += width + (1 if used else 0)
        lines += (used - 1) // columns
        used = (used - 1) % columns + 1
    return lines


def _finding(finding: Finding, checks: Sequence[Check]) -> Item:
    """Write a finding: what is wrong, where in the paper, and the check to ask about."""
    severity = Span(finding.severity.value, Style.KNOWN if finding.acknowledged else Style.BAD)
    if not finding.explained and len(checks) == 1:  # its title says less than the check
        return Item((severity, ": ", code(checks[0].id), " ", _evidence(checks[0])))
    asked = next((check for check in checks if check.acknowledged is not True), checks[0])
    counted = (count_of(len(checks), "check"),) if len(checks) > 1 else ()
    where = "; ".join((*_place(finding, checks), *counted))
    title = f": {shorten(finding.title, _LONGEST)}{f' ({where})' if where else ''}: "
    below = () if finding.acknowledged else (_evidence(asked),)
    return Item((severity, title, code(asked.id)), below)


def _place(finding: Finding, checks: Sequence[Check]) -> tuple[str, ...]:
    """Name the places in the paper, unless the title does."""
    tables = [check.id.split("/")[1] for check in checks if check.kind in (CheckKind.CELL, CheckKind.DELTA)]
    places = [*(f"Table {name}" for name in tables), *(check.place for check in checks if check.place)]
    named = [shorten(place, 40) for place in dict.fromkeys(places) if place not in finding.title]
    return (list_some(named, 1),) if named else ()


def _evidence(check: Check) -> str:
    printed = f"printed {shorten(check.printed, 40)}; " if check.printed is not None else ""
    return f"{printed}{shorten(check.reason, _LONGEST)}"
