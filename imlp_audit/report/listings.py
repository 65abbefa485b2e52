"""Documents of the commands that list things: `lint`, `cache info`, `coverage`, `init` and `acknowledge`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from imlp_audit.numbers.words import count_of, list_some
from imlp_audit.records.finding import AcknowledgeReport, RenewedLock, StaleEntry
from imlp_audit.records.listing import (
    CacheReport,
    CoverageReport,
    CoveredNumber,
    LintReport,
    NumberState,
    Transcription,
)
from imlp_audit.report.document import (
    Block,
    Code,
    Document,
    Heading,
    Inline,
    Item,
    List,
    Paragraph,
    Span,
    Style,
    Table,
    code,
    parse_code,
)
from imlp_audit.report.findings import stale_findings


def lint_document(report: LintReport) -> Document:
    """Return a line for each paper, and the findings that still need a title."""
    rows = tuple(
        (
            f"{paper.id}:",
            f"{count_of(paper.tables, 'table')}, {count_of(paper.checks, 'check')}, "
            f"{count_of(paper.findings, 'finding')}: no problems{_NO_MODEL if paper.modelless else ''}",
        )
        for paper in report.papers
    )
    drafts = tuple(draft for paper in report.papers for draft in paper.drafts)
    if not drafts:
        return (Table((), rows),)
    places = List(tuple(f"{draft.file}:{draft.line}: this finding has no title yet" for draft in drafts))
    return (Table((), rows), Paragraph(f"{count_of(len(drafts), 'draft')} to be titled by a person:"), places)


_NO_MODEL = " of form, but no row has `model:` or `candidates:`, so no number can be counted yet"


def cache_document(report: CacheReport) -> Document:
    """Return where measurements are kept and how many, or how to have them kept."""
    if report.folder is None:
        return (
            Paragraph("Measurements are kept nowhere: IMLP_AUDIT_CACHE is empty, or this user has no home folder."),
        )
    size = f"{report.bytes / 2**20:.1f} MiB"
    return (Paragraph(f"{report.folder}: {count_of(report.measurements, 'measurement')}, {size}"),)


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


def transcription_document(done: Transcription) -> Document:
    """Return what was made of a table, what was left out, and the next commands."""
    caption = f": {done.caption}" if done.caption else ""
    blocks: list[Block] = [Paragraph(f"Wrote {done.file}: table {done.table}{caption}"), List(done.made)]
    if done.left_out:
        blocks += [Paragraph("Left out, with a comment in the file:"), List(done.left_out)]
    return (*blocks, Heading("Try next", 3), Code("\n".join(done.next), "sh"))


def acknowledged_document(report: AcknowledgeReport) -> Document:
    """Return what each lock gains and loses, and what no finding covers yet."""
    return tuple(block for paper in report.papers for block in _paper(paper, written=report.written))


def _paper(paper: RenewedLock, *, written: bool) -> Iterator[Block]:
    total = paper.kept + len(paper.new) + len(paper.changed)
    state = "in" if written else "would be in"
    yield Heading(f"{paper.paper}: {total} {'entry' if total == 1 else 'entries'} {state} {paper.lock}", 1)
    if not (paper.new or paper.changed or paper.dropped):
        yield Paragraph("The lock stays as it is.")
    if paper.new:
        yield Heading(f"New: {count_of(len(paper.new), 'check')}", 3)
        yield List(tuple(Item((code(one.check), f" ({one.finding})"), (one.reason,)) for one in paper.new))
    yield from _entries("Changed", paper.changed)
    yield from _entries("Dropped", paper.dropped)
    if paper.unexplained:
        yield Heading("Still failing: no titled finding covers these", 3)
        yield List(tuple(Item(f"{one.kind.value}: {one.title}", (", ".join(one.checks),)) for one in paper.unexplained))
        yield Paragraph(parse_code(_what_next(paper, written=written)))
    yield from stale_findings(paper.stale_findings)


def _entries(name: str, entries: Sequence[StaleEntry]) -> Iterator[Block]:
    if entries:
        yield Heading(f"{name}: {count_of(len(entries), 'check')}", 3)
        yield List(tuple(Item((code(entry.check), ": ", entry.reason)) for entry in entries))


def _what_next(paper: RenewedLock, *, written: bool) -> str:
    if paper.drafts and not written:
        named = f"{count_of(len(paper.drafts), 'draft')}: {', '.join(f'`{name}`' for name in paper.drafts)}"
        return f"Nothing was written. Without `--dry-run`, `--draft` writes {named}."
    if paper.drafts:
        return (
            "Drafts were written for them: give each a title and the reason, then run `imlp-audit acknowledge` again."
        )
    return (
        "Describe each cause in the paper's `findings.yaml`, or let `imlp-audit acknowledge --draft` write the entries."
    )
