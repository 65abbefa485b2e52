"""The numbers of a document, each at its place, and what is known of each."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

from imlp_audit.errors import UsageError
from imlp_audit.numbers.forms import DecimalMark, FoundNumber, find_numbers
from imlp_audit.records.check import Source
from imlp_audit.transcribe.coverage.apart import ApartKind, kinds_of
from imlp_audit.transcribe.coverage.furniture import ApartFinder
from imlp_audit.transcribe.coverage.lines import DocumentLine, PrintedDocument
from imlp_audit.transcribe.coverage.quotes import QuotedSpan

MOST_NUMBERS = 20_000
_DIGIT = re.compile("[0-9]")


@dataclass
class PlacedNumber:
    """A number, the index of its line, and what was found about it so far."""

    line: int
    found: FoundNumber
    apart: ApartKind | None
    checks: dict[str, None] = field(default_factory=dict)
    reasons: dict[str, None] = field(default_factory=dict)
    sources: list[Source] = field(default_factory=list)

    def bind(self, checks: Iterable[str], source: Source) -> None:
        """Note the checks that read it."""
        self.checks |= dict.fromkeys(checks)
        self._note(source)

    def explain(self, reason: str, source: Source) -> None:
        """Note why no check reads it."""
        self.reasons[reason] = None
        self._note(source)

    def _note(self, source: Source) -> None:
        if source not in self.sources:
            self.sources.append(source)


class NumberIndex:
    """The numbers of a document in order, and by their line."""

    def __init__(self, document: PrintedDocument, decimal: DecimalMark) -> None:
        self.lines = document.lines
        self.all = _scan(document, decimal)
        self.by_line: dict[int, list[PlacedNumber]] = defaultdict(list)
        for number in self.all:
            self.by_line[number.line].append(number)

    def within(self, span: QuotedSpan) -> list[PlacedNumber]:
        """Return the quantities that stand in a span."""
        return [
            number
            for line in range(span.first[0], span.last[0] + 1)
            for number in self.by_line.get(line, ())
            if number.apart is None and span.holds(line, number.found.start, number.found.end)
        ]


def _scan(document: PrintedDocument, decimal: DecimalMark) -> list[PlacedNumber]:
    apart = ApartFinder(document.lines)
    numbers: list[PlacedNumber] = []
    for at, line in enumerate(document.lines):
        if _DIGIT.search(line.text) is None:
            continue
        found = list(islice(find_numbers(line.text, decimal), MOST_NUMBERS + 1))
        if len(numbers) + len(found) > MOST_NUMBERS:
            raise UsageError(_too_many(document, line))
        numbers += (PlacedNumber(at, *one) for one in zip(found, kinds_of(found, apart.spans(at)), strict=True))
    return numbers


def _too_many(document: PrintedDocument, line: DocumentLine) -> str:
    where = f"page {line.page}, line {line.number}" if line.page is not None else f"line {line.number}"
    return (
        f"{document.name} has more than {MOST_NUMBERS} numbers up to {line.file}, {where}: this is data, not a paper's "
        "text; leave out what is not printed, such as the coordinates of figures"
    )
