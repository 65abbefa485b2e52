"""The findings in few lines, the worst first: their numbers in the report, what is wrong, where, and what to ask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation

from imlp_audit.numbers.words import count_of, list_some
from imlp_audit.records.check import Check
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import Block, Heading, Inline, Item, List, Paragraph, Span, code
from imlp_audit.report.findings import say_that_none_fails
from imlp_audit.report.fitting import COLUMNS, items_that_fit, lines_of_item, shorten
from imlp_audit.report.hints import choose_hints
from imlp_audit.report.numbered import NumberedFinding, number_findings
from imlp_audit.report.places import name_places, name_places_of

_FRAME = 3  # lines around a list of findings: a blank one, its heading, and "n more"
_SENTENCE = 2  # lines of known findings that are only counted: a blank one before them
_LONGEST = 120  # characters of a title or a reason; longer ones end at a word
_IN_FULL = 1  # known findings whose check is named where not all of them fit
_PLACED = 5  # known findings whose place is named where not all of them fit
_ALL = 10**9


def count_more(count: int, noun: str) -> tuple[str, ...]:
    """Return an entry that counts what a list leaves out, if it leaves out anything."""
    return (count_of(count, f"more {noun}"),) if count > 0 else ()


def list_worst(result: AuditResult, lines: int | None = None, columns: int = COLUMNS) -> Iterator[Block]:
    """Yield the findings: those that fail the run first, each kind with the gravest first.

    Where they have to fit into so many lines, known ones after the first lose their check, those after the first few
    their place too, and the rest is counted. One that fails the run is listed however long it is.
    """
    left = _ALL if lines is None else lines
    findings = number_findings(result)
    if not findings:
        yield Paragraph(say_that_none_fails(result))
    for known in (False, True):
        found = [one for one in findings if one.finding.acknowledged is known]
        group = [(one, result.checks_of(one.finding)) for one in found]
        items = [_finding(one, failing, result.checks) for one, failing in group]
        room = left - _FRAME - (_SENTENCE if not known and len(found) < len(findings) else 0)
        if known and sum(lines_of_item(item, columns) for item in items) > room:
            short = [
                Item((*_title(one), f" [{name_places_of(one.finding, failing)}]"))
                for one, failing in group[_IN_FULL:_PLACED]
            ]
            items[_IN_FULL:] = [*short, *(Item(_title(one)) for one, _ in group[_PLACED:])]
        listed = items_that_fit(items, room, columns, at_least=0 if known else 1)
        left -= sum(lines_of_item(item, columns) for item in listed) + (_FRAME if items else 0)
        if listed:
            yield Heading(_heading(found, known=known), 3)
            yield List((*listed, *_more(len(items) - len(listed))))
        elif items:
            yield Paragraph(f"{_heading(found, known=known)}.")


def _more(count: int) -> tuple[Inline, ...]:
    """Return an entry that counts the findings that are not listed, and says how to see them."""
    return tuple((f"{one}: ", code("--all"), " lists every one") for one in count_more(count, "finding"))


def stale_entries(result: AuditResult) -> Iterator[Block]:
    """Yield the checks that are not as they were when they were acknowledged, and findings of which no check fails."""
    if result.stale:
        named = list_some([entry.check for entry in result.stale], 1)
        have = "has" if len(result.stale) == 1 else "have"
        changed = f"{count_of(len(result.stale), 'known check')} {have} changed ({named})"
        yield Paragraph((f"{changed}; run ", code("imlp-audit acknowledge"), " once you understand why."))
    if result.stale_findings:
        named = list_some([f"{found.source.file}:{found.source.line} {found.id}" for found in result.stale_findings], 1)
        cover = "covers" if len(result.stale_findings) == 1 else "cover"
        what = "checks that do not fail"
        yield Paragraph(f"{count_of(len(result.stale_findings), 'finding')} {cover} {what}: {named}.")


def _heading(findings: Sequence[NumberedFinding], *, known: bool) -> str:
    """Count findings and the failing checks that they explain, and say what they mean for the run."""
    count = count_of(sum(len(one.finding.checks) for one in findings), "check")
    number = len(findings)
    if known:
        do = "it does" if number == 1 else "they do"
        return f"{count_of(number, 'known finding')} ({count}), listed in findings.yaml: {do} not fail the run"
    return f"{count_of(number, 'finding')} ({count}) that {'fails' if number == 1 else 'fail'} the run"


def _title(one: NumberedFinding) -> tuple[str | Span, ...]:
    return one.link, " ", Span(one.finding.kind.value, one.style), f": {shorten(one.finding.title, _LONGEST)}"


def _finding(one: NumberedFinding, checks: Sequence[Check], every: Sequence[Check]) -> Item:
    """Write a finding: what is wrong, where in the paper, and the check to ask about; `every` are the run's checks."""
    finding = one.finding
    if not checks:
        return Item((*_title(one), f" [{name_places_of(finding, checks)}]"))
    asked = next((check for check in checks if check.acknowledged is not True), checks[0])
    if not finding.explained:
        asked = max((check for check in checks if check.acknowledged is not True), key=_how_far, default=asked)
    where = (f" [{name_places(checks)}]: ", code(asked.id))
    if not finding.explained and len(checks) == 1:  # its title says less than the check
        number, space, kind, _ = _title(one)
        text = (number, space, kind, f": {name_places(checks)}: ", code(asked.id), " ", _evidence(asked))
        return Item(text, tuple(f"hint: {hint}" for hint in asked.hints[:1]))
    hints = () if finding.explained else choose_hints(asked, checks, every)
    below = () if finding.acknowledged else (_evidence(asked), *hints)
    return Item((*_title(one), *where), below)


def _how_far(check: Check) -> Decimal:
    """Return how far a measured value is off, in units of the last printed digit."""
    try:
        return abs(Decimal(check.gap or 0))
    except InvalidOperation:  # a result that somebody wrote: its gap may be any text
        return Decimal(0)


def _evidence(check: Check) -> str:
    printed = f"printed {shorten(check.printed, 40)}; " if check.printed is not None else ""
    return f"{printed}{shorten(check.reason, _LONGEST)}"
