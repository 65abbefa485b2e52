"""The document of `imlp-audit coverage`: the numbers of a document by line, and how many are bound."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import groupby

from imlp_audit.numbers.words import count_of, list_some
from imlp_audit.records.listing import CoverageReport, CoveredNumber, NumberState
from imlp_audit.report.document import Block, Document, Heading, Inline, List, Paragraph, Span, Style, Table

_STYLES = {
    NumberState.BOUND: Style.GOOD,
    NumberState.EXPLAINED: Style.KNOWN,
    NumberState.OPEN: Style.BAD,
    NumberState.APART: Style.FAINT,
}
_MOST_CHECKS = 3


def coverage_document(report: CoverageReport, listed: Collection[NumberState]) -> Document:
    """Return what a person reads: numbers in the listed states with their lines, what is missing, and the share."""
    return tuple(_blocks(report, [number for number in report.numbers if number.state in listed]))


def _blocks(report: CoverageReport, shown: list[CoveredNumber]) -> Iterator[Block]:
    yield Heading(f"Numbers of {report.document} against {report.paper}", 1)
    if shown:
        yield Table(("line", "numbers", "", "read or explained by"), tuple(_rows(shown, report)))
    if report.unplaced:
        yield Heading("Not found where the specs say")
        yield List(tuple(f"{one.what}: {one.reason} ({one.source.file}:{one.source.line})" for one in report.unplaced))
    apart = report.count(NumberState.APART)
    if apart:
        yield Paragraph(f"{count_of(apart, 'other number')} not counted: {_kinds(report)}.")
    yield from (Paragraph((Span("note:", Style.STRONG), f" {note}")) for note in report.notes)
    yield Paragraph(share(report))


def _rows(numbers: list[CoveredNumber], report: CoverageReport) -> Iterator[tuple[Inline, ...]]:
    """Yield a row for the numbers of a line that have the same fate; an open one is shown with its context."""
    several = len({number.file for number in report.numbers}) > 1
    for _, group in groupby(numbers, key=_key):
        together = list(group)
        first = together[0]
        place = f"{f'p. {first.page}, ' if first.page is not None else ''}{first.line}"
        yield (
            f"{first.file}:{place}" if several else place,
            " ".join(number.text for number in together),
            Span(str(first.state), _STYLES[first.state]),
            _told(together),
        )


def _key(number: CoveredNumber) -> tuple[object, ...]:
    return number.file, number.page, number.line, number.state, _group(number)


def _group(number: CoveredNumber) -> object:
    """Return what numbers of a line have in common that are shown together: a row of a table, or an entry."""
    match number.state:
        case NumberState.OPEN:
            return number.context
        case NumberState.BOUND:
            return tuple(_row_of(check) for check in number.checks)
        case NumberState.EXPLAINED | NumberState.APART:
            return number.reason


def _row_of(check: str) -> str:
    parts = check.split("/")
    return "/".join(parts[:3]) if len(parts) == 4 else check


def _told(numbers: list[CoveredNumber]) -> Inline:
    first = numbers[0]
    if first.state is NumberState.OPEN:
        return first.context
    if first.reason is not None:
        return first.reason
    rows = list(dict.fromkeys(_row_of(check) for number in numbers for check in number.checks))
    checks = list(dict.fromkeys(check for number in numbers for check in number.checks))
    one = len(rows) == 1 and len(checks) > 1
    return f"{rows[0]}/*" if one else list_some(checks, _MOST_CHECKS)


def _kinds(report: CoverageReport) -> str:
    counts: dict[str, int] = {}
    for number in report.numbers:
        if number.state is NumberState.APART and number.reason is not None:
            counts[number.reason] = counts.get(number.reason, 0) + 1
    return ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items(), key=lambda one: (-one[1], one[0])))


def share(report: CoverageReport) -> str:
    """Return the counts, the share of the numbers that are bound or explained, and how much of the specs is missing."""
    bound, explained = report.count(NumberState.BOUND), report.count(NumberState.EXPLAINED)
    counts = f"{bound} read by checks, {explained} explained, {report.count(NumberState.OPEN)} open"
    part = f" ({100 * (bound + explained) // report.quantities} % covered)" if report.quantities else ""
    missing = f"; {count_of(len(report.unplaced), 'part')} of the specs not found in it" if report.unplaced else ""
    return f"{count_of(report.quantities, 'number')}: {counts}{part}{missing}"
