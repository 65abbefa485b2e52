"""What to ask the authors, in few lines, the worst first: what is wrong, where, and what failing checks say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation

from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import Check, CountedCheck
from imlp_audit.records.finding import FindingKind
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import Block, Heading, Item, List, Paragraph, Span, code
from imlp_audit.report.findings import say_that_none_fails
from imlp_audit.report.fitting import COLUMNS, items_that_fit, lines_of_item, shorten
from imlp_audit.report.hints import choose_hints
from imlp_audit.report.numbered import NumberedFinding
from imlp_audit.report.places import name_places_of

_FRAME = 3  # lines around a list of findings: a blank one, its heading, and "n more"
_LONGEST = 120  # characters of a title or a reason; longer ones end at a word
_ALL = 10**9


def count_more(count: int, noun: str) -> tuple[str, ...]:
    """Return an entry that counts what a list leaves out, if it leaves out anything."""
    return (count_of(count, f"more {noun}"),) if count > 0 else ()


def list_asks(
    result: AuditResult, findings: Sequence[NumberedFinding], lines: int | None = None, columns: int = COLUMNS
) -> Iterator[Block]:
    """Yield what to ask the authors, and before it misprints and notes that fail the run.

    Where they have to fit into so many lines, those that do not fail the run have their titles alone, and the rest is
    counted. The first one that fails the run is listed however long it is.
    """
    asked = [one for one in findings if one.finding.kind is FindingKind.ASK or not one.finding.acknowledged]
    if not findings:
        yield Paragraph(say_that_none_fails(result))
    if not asked:
        return
    room = _ALL if lines is None else lines - _FRAME
    items = [_finding(one, result) for one in asked]
    if sum(lines_of_item(item, columns) for item in items) > room:
        items = [
            Item(_title(one)) if one.finding.acknowledged else item for one, item in zip(asked, items, strict=True)
        ]
    listed = items_that_fit(items, room, columns, at_least=0 if asked[0].finding.acknowledged else 1)
    more = tuple((f"{one}: ", code("--all")) for one in count_more(len(items) - len(listed), "point"))
    yield Heading(f"Ask the authors ({len(asked)})", 3)
    yield List((*listed, *more))


def _title(one: NumberedFinding) -> tuple[str | Span, ...]:
    return one.link, f" {shorten(one.finding.title, _LONGEST)}"


def _finding(one: NumberedFinding, result: AuditResult) -> Item:
    """Write a finding: what is wrong and where in the paper; of one that fails the run, what was found."""
    finding, own = one.finding, result.checks_of(one.finding)
    new = [check for check in own if check.id in finding.checks and check.acknowledged is not True]
    place = name_places_of(finding, own)
    if finding.acknowledged or not new:
        return Item((*_title(one), f" [{place}]"))
    first = new[0] if finding.explained else max(new, key=_how_far)
    state = f"{'' if finding.explained else 'unexplained: '}{'fails' if len(own) == 1 else 'fail'} the run"
    if not finding.explained and len(own) == 1:  # its title says less than the check
        text = (one.link, f" {place}: ", code(first.id), f" {_evidence(first)} ({state})")
        return Item(text, tuple(f"hint: {hint}" for hint in first.hint_texts[:1]))
    hints = () if finding.explained else choose_hints(first, own, result.checks)
    return Item((*_title(one), f" ({state}) [{place}]: ", code(first.id)), (_evidence(first), *hints))


def _how_far(check: Check) -> Decimal:
    """Return how far a measured value is off, in units of the last printed digit."""
    try:
        return abs(Decimal((check.gap if isinstance(check, CountedCheck) else None) or 0))
    except InvalidOperation:  # a result that somebody wrote: its gap may be any text
        return Decimal(0)


def _evidence(check: Check) -> str:
    printed = f"printed {shorten(check.printed, 40)}; " if check.printed is not None else ""
    return f"{printed}{shorten(check.reason, _LONGEST)}"
