"""Binds the numbers of a document to the checks of a paper, by where they stand and what quotes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from imlp_audit.claims.catalogue import ClaimText
from imlp_audit.numbers.forms import DecimalMark, keys_of, unsigned_keys
from imlp_audit.numbers.words import count_of, list_some
from imlp_audit.records.check import Source
from imlp_audit.records.listing import CoverageReport, CoveredNumber, NumberState, UnplacedPart
from imlp_audit.spec.claim_entries import ClaimEntry, MeaningEntry
from imlp_audit.spec.paper import Paper, find_rows
from imlp_audit.spec.plan import claims_of
from imlp_audit.spec.schema import CoverageEntry, NumbersEntry
from imlp_audit.transcribe.coverage.numbers import NumberIndex, PlacedNumber, find_quantities
from imlp_audit.transcribe.coverage.places import QuoteFinder, find_captions, find_parts, fold
from imlp_audit.transcribe.coverage.read import DocumentLine, PrintedDocument
from imlp_audit.transcribe.coverage.tables import place_table, table_checks


def numbers_read(claim: ClaimEntry, known: Sequence[Paper], decimal: DecimalMark) -> frozenset[str]:
    """Return the numbers that a claim is checked by, without signs: the text says "reduced by 12.6%"."""
    meanings = [claim, claim.charitable] if isinstance(claim.charitable, MeaningEntry) else [claim]
    texts = (text for meaning in meanings for text in _texts(meaning, known))
    return frozenset(key for text in texts for key in unsigned_keys(text, decimal))


def quoted_equations(paper: Paper, known: Sequence[Paper]) -> Iterator[ClaimText]:
    """Yield the statements about functions that quote the document."""
    yield from (claim for claim in claims_of(paper, known).values() if isinstance(claim, ClaimText) and claim.literal)


def _texts(meaning: MeaningEntry, known: Sequence[Paper]) -> Iterator[str]:
    if meaning.reference is not None:  # it is about where numbers stand, and reads none
        return
    yield from _values(meaning.form)
    yield meaning.meaning or ""
    for name in meaning.ids_named:
        for row in find_rows(known, "/".join(name.split("/")[:3])):
            yield " ".join(number.text for number in find_quantities(row.row.label))
            yield from row.row.printed.values()


def _values(value: object) -> Iterator[str]:
    """Yield the texts and counts in a record; its ids are names of rows and cells, not numbers."""
    match value:
        case str():
            yield from [] if "/" in value else [value]
        case int():
            yield str(value)
        case dict():
            for one in value.values():
                yield from _values(one)
        case tuple() | list():
            for one in value:
                yield from _values(one)
        case None:
            return
        case _:
            yield from _values(dict(vars(value)))


_SHORTEST = 10  # letters and digits of a formula; a shorter one may stand elsewhere by chance
_SENTENCE = re.compile(r"Sentence [^:]*:\s*(.*)", re.DOTALL)
_LONGEST = 70  # characters of a quotation that are shown


def cover(document: PrintedDocument, paper: Paper, known: Sequence[Paper]) -> CoverageReport:
    """Return every number of a document, with the checks of a paper that read it or the entry that explains it."""
    covering = _Covering(document, paper, known)
    covering.bind_tables()
    covering.bind_claims()
    covering.bind_equations()
    covering.bind_entries()
    covering.lack_cells()
    return make_report(document, paper, covering.index, covering.unplaced)


@dataclass
class _Covering:
    """A document while its numbers are bound, one kind of place after another."""

    document: PrintedDocument
    paper: Paper
    known: Sequence[Paper]
    unplaced: list[UnplacedPart] = field(default_factory=list)
    placed: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.index = NumberIndex(self.document, self.decimal)
        self.quotes = QuoteFinder(self.document.lines)

    @property
    def decimal(self) -> DecimalMark:
        return self.paper.about.value.decimal

    def bind_tables(self) -> None:
        """Bind the cells of tables, each table near its own caption."""
        captions = find_captions(self.document.lines)
        for table in self.paper.tables:
            pairs = place_table(self.paper, table, captions, self.index)
            self.placed |= {table.value.table} if pairs else set()
            for number, check in pairs:
                number.bind([check], table.source("table"))

    def lack_cells(self) -> None:
        """Note the tables that are not found, and cells that neither their table nor a quotation has."""
        read = {check for number in self.index.all for check in number.checks}
        for table in self.paper.tables:
            missing = [check for check in table_checks(self.paper, table) if check not in read]
            if missing and table.value.table not in self.placed:
                self._lack(table.value.called, "not found in the document", table.source("table"))
            elif missing:
                count = count_of(len(missing), "number")
                names = list_some([name.partition("/")[2] for name in missing], 5)
                self._lack(table.value.called, f"{count} of the spec not found there: {names}", table.source("table"))

    def bind_claims(self) -> None:
        """Bind the numbers of a claim's quotation that the claim is checked by."""
        for claim in self.paper.claims:
            entry = claim.value
            keys = numbers_read(entry, self.known, self.decimal)
            spans = self.quotes.find_parts(re.sub(r"\s*\(caption of [^()]*\)\Z", "", entry.text))
            for number in (one for span in spans for one in self.index.within(span)):
                if number.found.unsigned in keys:
                    number.bind([f"{self.paper.id}/claims/{entry.id}"], claim.source("text"))
            if not spans and keys & {number.unsigned for number in find_quantities(entry.text, self.decimal)}:
                self._lack(f"the text of claims/{entry.id}", "not found in the document", claim.source("text"))

    def bind_equations(self) -> None:
        """Bind the numbers of statements about functions that quote the document word by word."""
        for claim in quoted_equations(self.paper, self.known):
            if len(fold(claim.form)) < _SHORTEST or not keys_of(claim.form, self.decimal):
                continue
            for span in self.quotes.find_parts(claim.form):
                for number in self.index.within(span):
                    number.bind([claim.id], Source(file=claim.file, line=claim.line))

    def bind_entries(self) -> None:
        """Bind or explain what the paper's coverage names: numbered parts, sentences, and numbers by quotation."""
        parts = find_parts(self.document.lines)
        for located in self.paper.coverage:
            for at, entry in enumerate(located.value.entries):
                sentence = _SENTENCE.fullmatch(entry.item)
                spans = self.quotes.find(sentence[1]) if sentence is not None else parts.get(entry.item, [])
                for number in (one for span in spans for one in self.index.within(span)):
                    _settle(number, entry, located.source("entries", at))
            for at, numbers in enumerate(located.value.numbers):
                for place, quote in enumerate(numbers.near):
                    self._settle_quoted(quote, numbers, located.source("numbers", at, "near", place))

    def _settle_quoted(self, quote: str, entry: NumbersEntry, source: Source) -> None:
        spans = self.quotes.find(quote)
        if len(spans) != 1:
            often = f"stands there {len(spans)} times, so it names no place: quote more of it"
            self._lack(f"the quotation {_short(quote)}", often if spans else "not found in the document", source)
            return
        meant = (
            None
            if entry.numbers is None
            else {key for text in entry.numbers for key in unsigned_keys(text, self.decimal)}
        )
        for number in self.index.within(spans[0]):
            if meant is None or number.found.unsigned in meant:
                _settle(number, entry, source)

    def _lack(self, what: str, reason: str, source: Source) -> None:
        self.unplaced.append(UnplacedPart(what=what, reason=reason, source=source))


def _short(quote: str) -> str:
    return f"“{quote if len(quote) <= _LONGEST else f'{quote[:_LONGEST].rstrip()}…'}”"


def _settle(number: PlacedNumber, entry: CoverageEntry | NumbersEntry, source: Source) -> None:
    """Bind a number to the checks that an entry names, or note its reason."""
    if entry.checks is not None:
        number.bind(entry.checks, source)
    elif entry.out_of_scope is not None:
        number.explain(entry.out_of_scope, source)


_AROUND = 40  # characters of context on either side


def make_report(
    document: PrintedDocument, paper: Paper, index: NumberIndex, unplaced: Sequence[UnplacedPart]
) -> CoverageReport:
    """Return the numbers of a document with what was found about each."""
    by_line = groupby(index.all, key=lambda number: number.line)
    report = CoverageReport(
        document=document.name,
        paper=paper.id,
        numbers=tuple(one for line, group in by_line for one in _records(list(group), index.lines[line])),
        unplaced=tuple(unplaced),
    )
    return report.model_copy(update={"notes": (*document.notes, *_doubts(report))})


def _records(numbers: Sequence[PlacedNumber], line: DocumentLine) -> Iterator[CoveredNumber]:
    """Yield the numbers of a line; those of one fate that stand together have one context."""
    for together in _clusters(numbers):
        context = _context(line.text, together[0].found.start, together[-1].found.end)
        for number in together:
            yield CoveredNumber(
                file=line.file,
                page=line.page,
                line=line.number,
                text=number.found.text,
                context=context,
                state=_state(number),
                checks=tuple(number.checks),
                reason=_reason(number),
                sources=tuple(number.sources),
            )


def _clusters(numbers: Sequence[PlacedNumber]) -> Iterator[list[PlacedNumber]]:
    together = [numbers[0]]
    for number in numbers[1:]:
        if _state(number) is _state(together[-1]) and number.found.start - together[-1].found.end <= _AROUND:
            together.append(number)
        else:
            yield together
            together = [number]
    yield together


def _state(number: PlacedNumber) -> NumberState:
    if number.apart is not None:
        return NumberState.APART
    if number.checks:
        return NumberState.BOUND
    return NumberState.EXPLAINED if number.reasons else NumberState.OPEN


def _reason(number: PlacedNumber) -> str | None:
    """Return why no check reads a number, or what it is if it is not a quantity."""
    if number.apart is not None:
        return str(number.apart)
    return "; ".join(number.reasons) if number.reasons and not number.checks else None


def _context(text: str, start: int, end: int) -> str:
    before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    cut = ("…" if start > _AROUND else "", "…" if len(text) > end + _AROUND else "")
    return " ".join(f"{cut[0]}{before}{text[start:end]}{after}{cut[1]}".split())


def _doubts(report: CoverageReport) -> Iterator[str]:
    """Yield what makes one doubt that the document is the paper's."""
    covered = report.count(NumberState.BOUND) + report.count(NumberState.EXPLAINED)
    if 10 * covered < report.quantities:
        yield (
            f"the specs of {report.paper} read or explain only {covered} of {report.quantities} numbers: they may be "
            "those of another document"
        )
    if not report.quantities:
        yield "no number was found in it"
