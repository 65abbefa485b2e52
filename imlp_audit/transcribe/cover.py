"""Binds the numbers of a document to the checks of a paper, by where they stand and what quotes them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import groupby

from pydantic import TypeAdapter

from imlp_audit.claims.catalogue import ClaimText
from imlp_audit.errors import UsageError
from imlp_audit.numbers.parsing import FoundNumber, keys_of, unsigned_keys
from imlp_audit.numbers.words import count_of, list_some
from imlp_audit.records.check import Source
from imlp_audit.records.listing import CoverageReport, CoveredNumber, NumberState, UnplacedPart
from imlp_audit.spec.claim_entries import ClaimEntry, MeaningEntry
from imlp_audit.spec.paper import Paper, find_rows, rows_of_table
from imlp_audit.spec.plan import claims_of
from imlp_audit.spec.schema import PrintedTable
from imlp_audit.spec.tree import Located
from imlp_audit.transcribe import places
from imlp_audit.transcribe.sources import DocumentLine, PrintedDocument

MOST_NUMBERS = 20_000
_SHORTEST = 10  # letters and digits of a formula; a shorter one may stand elsewhere by chance
_SENTENCE = re.compile(r"Sentence [^:]*:\s*(.*)", re.DOTALL)
_LONGEST = 70  # characters of a quotation that are shown
_AROUND = 40  # characters of context on either side
_CELLS = re.compile(r"[\t|&]")
_TIMES = re.compile(r"\s*\$?\s*(?:\\times|[x×])\s*\$?\s*")
_MOST_WORDS = 12  # of a row whose cells nothing separates; a longer line of words is a sentence


@dataclass(eq=False)
class _PlacedNumber:
    """A number, its line, where that begins, and what was found; `repeats` is the first side of a square."""

    line: int
    offset: int
    found: FoundNumber
    apart: places.ApartKind | None
    repeats: _PlacedNumber | None = None
    checks: dict[str, None] = field(default_factory=dict)
    reasons: dict[str, None] = field(default_factory=dict)
    sources: dict[Source, None] = field(default_factory=dict)

    @property
    def state(self) -> NumberState:
        if self.apart is not None:
            return NumberState.APART
        if self.checks:
            return NumberState.BOUND
        return NumberState.EXPLAINED if self.reasons else NumberState.OPEN

    def settle(self, source: Source, checks: Iterable[str] | None, reason: str | None = None) -> None:
        """Note the checks that read it, or the reason why none does."""
        self.checks |= dict.fromkeys(checks or ())
        self.reasons |= dict.fromkeys([reason] if reason is not None else [])
        self.sources[source] = None


@dataclass(frozen=True)
class _Wanted:
    """A number that the spec has in a table: its row (or column, where rows go down), its key and its check.

    A number of a label, such as n = 3 but not LVT-R4, is read by the checks of the whole row.
    """

    line: int
    key: str
    check: str

    @property
    def is_cell(self) -> bool:
        return not self.check.endswith("/*")


_Pair = tuple[_PlacedNumber, _Wanted]


def cover(document: PrintedDocument, paper: Paper, known: Sequence[Paper]) -> CoverageReport:
    """Return every number of a document, with the checks of a paper that read it or the entry that explains it.

    Raises UsageError for a document that has more numbers than a paper.
    """
    covering = _Covering(document, paper, known)
    covering.bind_tables()
    covering.bind_claims()
    covering.bind_equations()
    covering.bind_entries()
    covering.lack_cells()
    return covering.report()


class _Covering:
    """A document while its numbers are bound, one kind of place after another."""

    def __init__(self, document: PrintedDocument, paper: Paper, known: Sequence[Paper]) -> None:
        self.document, self.paper, self.known = document, paper, known
        self.numbers: list[_PlacedNumber] = []
        for at, found, apart in places.read_numbers(document.lines):
            if len(self.numbers) == MOST_NUMBERS:
                raise UsageError(
                    f"{document.name} has more than {MOST_NUMBERS} numbers up to {document.lines[at].place}: this is "
                    "data, not a paper's text; leave out what is not printed, such as the coordinates of figures"
                )
            number = _PlacedNumber(at, document.starts[at], found, apart)
            if self.numbers and _is_square(self.numbers[-1], number, document.lines[at].text):
                number.repeats = self.numbers[-1]
            self.numbers.append(number)
        self.places = [number.offset + number.found.start for number in self.numbers]
        self.is_row = [_CELLS.search(line.text) or len(line.text.split()) <= _MOST_WORDS for line in document.lines]
        self.quotes = places.QuoteFinder(document.text)
        self.placed: set[str] = set()
        self.unplaced: list[UnplacedPart] = []

    def within(self, spans: Iterable[places.Span], keys: Container[str] | None = None) -> Iterator[_PlacedNumber]:
        """Yield the quantities that stand in some spans; with `keys`, those alone, whatever their signs."""
        for first, last in spans:
            for number in self.numbers[bisect_left(self.places, first) : bisect_left(self.places, last)]:
                ends_inside = number.offset + number.found.end <= last
                if number.apart is None and ends_inside and (keys is None or number.found.unsigned in keys):
                    yield number

    def bind_tables(self) -> None:
        """Bind the cells of tables, each table near its own caption."""
        for table in self.paper.tables:
            read = {number: wanted.check for number, wanted in self._place_table(table)}
            self.placed |= {table.value.table} if read else set()
            for number in self.numbers if read else ():
                check = read.get(number) or (read.get(number.repeats) if number.repeats is not None else None)
                if check is not None:
                    number.settle(table.source("table"), [check])

    def lack_cells(self) -> None:
        """Note the tables that are not found, and cells that neither their table nor a quotation has."""
        read = {check for number in self.numbers for check in number.checks}
        for table in self.paper.tables:
            cells = dict.fromkeys(one.check for one in self._wanted(table) if one.is_cell)
            missing = [check for check in cells if check not in read]
            if missing:
                names = list_some([name.partition("/")[2] for name in missing], 5)
                some = f"{count_of(len(missing), 'number')} of the spec not found there: {names}"
                reason = some if table.value.table in self.placed else "not found in the document"
                self._lack(table.value.called, reason, table.source("table"))

    def bind_claims(self) -> None:
        """Bind the numbers of a claim's quotation that the claim is checked by, whatever their signs."""
        for claim in self.paper.claims:
            entry, source = claim.value, claim.source("text")
            keys = {key for text in _claim_texts(entry, self.known) for key in unsigned_keys(text)}
            spans = self.quotes.find_parts(re.sub(r"\s*\(caption of [^()]*\)\Z", "", entry.text))
            for number in self.within(spans, keys):
                number.settle(source, [f"{self.paper.id}/claims/{entry.id}"])
            if not spans and keys & {number.unsigned for number in places.find_quantities(entry.text)}:
                self._lack(f"the text of claims/{entry.id}", "not found in the document", source)

    def bind_equations(self) -> None:
        """Bind the numbers of statements about functions that quote the document word by word."""
        for claim in claims_of(self.paper, self.known).values():
            if isinstance(claim, ClaimText) and claim.literal and len(places.fold(claim.form)) >= _SHORTEST:
                source = Source(file=claim.file, line=claim.line)
                for number in self.within(self.quotes.find_parts(claim.form)):
                    number.settle(source, [claim.id])

    def bind_entries(self) -> None:
        """Bind or explain what the paper's coverage names: numbered parts, sentences, and numbers by quotation."""
        parts = places.find_parts(self.document.text)
        for located in self.paper.coverage:
            for at, entry in enumerate(located.value.entries):
                sentence = _SENTENCE.fullmatch(entry.item)
                spans = self.quotes.find(sentence[1]) if sentence is not None else parts.get(entry.item, [])
                for number in self.within(spans):
                    number.settle(located.source("entries", at), entry.checks, entry.out_of_scope)
            for at, numbers in enumerate(located.value.numbers):
                meant = unsigned_keys(" ".join(numbers.numbers)) if numbers.numbers is not None else None
                for place, quote in enumerate(numbers.near):
                    source = located.source("numbers", at, "near", place)
                    spans = self.quotes.find(quote)
                    for number in self.within(spans, meant) if len(spans) == 1 else ():
                        number.settle(source, numbers.checks, numbers.out_of_scope)
                    if len(spans) != 1:
                        shown = quote if len(quote) <= _LONGEST else f"{quote[:_LONGEST].rstrip()}…"
                        often = f"stands there {len(spans)} times, so it names no place: quote more of it"
                        self._lack(f"the quotation “{shown}”", often if spans else "not found in the document", source)

    def _lack(self, what: str, reason: str, source: Source) -> None:
        self.unplaced.append(UnplacedPart(what=what, reason=reason, source=source))

    def _wanted(self, table: Located[PrintedTable]) -> Iterator[_Wanted]:
        """Yield the numbers of each row: those of its label, its cells and its changes."""
        for line, row in enumerate(rows_of_table(self.paper, table)):
            for number in places.find_quantities(row.row.label):
                yield _Wanted(line, number.key, f"{row.id}/*")
            for column, text in row.row.printed.items():
                for ending, printed in (("", text), (".delta", row.row.delta.get(column, ""))):
                    yield from (_Wanted(line, key, f"{row.id}/{column}{ending}") for key in keys_of(printed))

    def _place_table(self, table: Located[PrintedTable]) -> list[_Pair]:
        """Return the numbers that are a table's cells, near its caption and in order, with their checks; or none."""
        rows = list(self._wanted(table))
        columns = [
            replace(one, line=line)
            for line, name in enumerate(table.value.columns)
            for one in rows
            if one.check.removesuffix(".delta").endswith(f"/{name}")
        ]
        best: list[_Pair] = []
        for window, own in places.find_windows(table.value, self.document):
            if not own and 2 * _count_cells(best) >= len(columns):
                break
            there = [
                number
                for number in self.within([window])
                if self.is_row[number.line] and not number.checks and number.repeats is None
            ]
            for shape in (rows, columns):
                found = _match(shape, there)
                if _count_cells(found) > _count_cells(best) and (own or 5 * _count_cells(found) >= 3 * len(columns)):
                    best = found
        return best

    def report(self) -> CoverageReport:
        """Return what became of each number."""
        states = Counter(number.state for number in self.numbers)
        covered = states[NumberState.BOUND] + states[NumberState.EXPLAINED]
        quantities = covered + states[NumberState.OPEN]
        notes = list(self.document.notes)
        if 10 * covered < quantities:
            notes.append(
                f"the specs of {self.paper.id} read or explain only {covered} of {quantities} numbers: they may be "
                "those of another document"
            )
        if not quantities:
            notes.append("no number was found in it")
        return CoverageReport(
            document=self.document.name,
            paper=self.paper.id,
            numbers=tuple(_records(self.numbers, self.document.lines)),
            unplaced=tuple(self.unplaced),
            notes=tuple(notes),
        )


def _is_square(before: _PlacedNumber, number: _PlacedNumber, line: str) -> bool:
    alike = (before.line, before.found.key, before.apart) == (number.line, number.found.key, number.apart)
    return alike and _TIMES.fullmatch(line[before.found.end : number.found.start]) is not None


def _match(wanted: Sequence[_Wanted], there: Sequence[_PlacedNumber]) -> list[_Pair]:
    """Pair numbers that are printed alike, in order, where a line of the document has at least half of a row."""
    rows = [one for _, row in groupby(wanted, key=lambda one: one.line) for one in (*row, None)]
    lines = [one for _, line in groupby(there, key=lambda one: one.line) for one in (*line, None)]
    keys = [one.key if one is not None else "end of a row" for one in rows]
    printed = [one.found.key if one is not None else "end of a line" for one in lines]
    blocks = SequenceMatcher(None, keys, printed, autojunk=False).get_matching_blocks()
    alike = [(lines[b + n], rows[a + n]) for a, b, size in blocks for n in range(size)]
    pairs = [(number, one) for number, one in alike if number is not None and one is not None]
    cells = Counter(one.line for one in wanted if one.is_cell)
    shared = Counter((one.line, number.line) for number, one in pairs if one.is_cell)
    return [(number, one) for number, one in pairs if 2 * shared[one.line, number.line] >= max(1, cells[one.line])]


def _count_cells(pairs: Sequence[_Pair]) -> int:
    """Return how many pairs are of cells, and not of a row's label."""
    return sum(wanted.is_cell for _, wanted in pairs)


def _claim_texts(claim: ClaimEntry, known: Sequence[Paper]) -> Iterator[str]:
    """Yield the texts whose numbers a claim is checked by; its ids are names of rows and cells, not numbers."""
    for meaning in (claim, claim.charitable):
        if not isinstance(meaning, MeaningEntry) or meaning.reference is not None:
            continue  # a reference is about where numbers stand, and reads none
        yield re.sub(r'"[^"]*(?:/[^"]*"|":)', "", TypeAdapter(object).dump_json(meaning.form).decode())
        yield meaning.meaning or ""
        for name in meaning.ids_named:
            for row in find_rows(known, "/".join(name.split("/")[:3])):
                yield " ".join(number.text for number in places.find_quantities(row.row.label))
                yield from row.row.printed.values()


def _records(numbers: Sequence[_PlacedNumber], lines: Sequence[DocumentLine]) -> Iterator[CoveredNumber]:
    """Yield the records of all numbers; those of one state that are near each other in a line have one context."""
    groups: list[list[_PlacedNumber]] = []
    for number in numbers:
        before = groups[-1][-1] if groups else None
        alike = before is not None and (before.line, before.state) == (number.line, number.state)
        if before is not None and alike and number.found.start - before.found.end <= _AROUND:
            groups[-1].append(number)
        else:
            groups.append([number])
    for group in groups:
        line = lines[group[0].line]
        start, end = max(0, group[0].found.start - _AROUND), group[-1].found.end + _AROUND
        context = f"{'…' if start else ''}{line.text[start:end]}{'…' if len(line.text) > end else ''}"
        for number in group:
            reason = str(number.apart or "") or ("" if number.checks else "; ".join(number.reasons))
            yield CoveredNumber(
                page=line.page,
                line=line.number,
                text=number.found.text,
                context=" ".join(context.split()),
                state=number.state,
                checks=tuple(number.checks),
                reason=reason or None,
                sources=tuple(number.sources),
            )
