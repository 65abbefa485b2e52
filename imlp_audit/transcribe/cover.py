"""Binds the numbers of a document to the checks of a paper, by where they stand and what quotes them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
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
from imlp_audit.spec.schema import CoverageEntry, NumbersEntry, PrintedTable
from imlp_audit.spec.tree import Located
from imlp_audit.transcribe.document import DocumentLine, PrintedDocument
from imlp_audit.transcribe.places import (
    ApartKind,
    QuoteFinder,
    Span,
    find_parts,
    find_quantities,
    find_windows,
    fold,
    read_numbers,
)

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
    """A number, the index of its line, and what was found about it so far."""

    line: int
    found: FoundNumber
    apart: ApartKind | None
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

    def bind(self, check: str, source: Source) -> None:
        """Note a check that reads it."""
        self.checks[check] = self.sources[source] = None

    def settle(self, entry: CoverageEntry | NumbersEntry, source: Source) -> None:
        """Note the checks that an entry names, or its reason."""
        for check in entry.checks or ():
            self.bind(check, source)
        if entry.checks is None and entry.out_of_scope is not None:
            self.reasons[entry.out_of_scope] = self.sources[source] = None


def cover(document: PrintedDocument, paper: Paper, known: Sequence[Paper]) -> CoverageReport:
    """Return every number of a document, with the checks of a paper that read it or the entry that explains it.

    Raises UsageError for a document that has more numbers than a paper.
    """
    covering = _Covering(document, paper, known)
    placed = covering.bind_tables()
    covering.bind_claims()
    covering.bind_equations()
    covering.bind_entries()
    covering.lack_cells(placed)
    return _report(document, paper, covering)


class _Covering:
    """A document while its numbers are bound, one kind of place after another."""

    def __init__(self, document: PrintedDocument, paper: Paper, known: Sequence[Paper]) -> None:
        self.lines, self.paper, self.known = document.lines, paper, known
        self.numbers: list[_PlacedNumber] = []
        for at, found, apart in read_numbers(document.lines):
            if len(self.numbers) == MOST_NUMBERS:
                raise UsageError(_too_many(document, document.lines[at]))
            self.numbers.append(_PlacedNumber(at, found, apart))
        self.places = [(one.line, one.found.start) for one in self.numbers]
        self.by_line = {at: list(group) for at, group in groupby(self.numbers, key=lambda one: one.line)}
        self.quotes = QuoteFinder(document.lines)
        self.unplaced: list[UnplacedPart] = []

    def within(self, spans: Sequence[Span]) -> Iterator[_PlacedNumber]:
        """Yield the quantities that stand in some spans."""
        for first, last in spans:
            for number in self.numbers[bisect_left(self.places, first) : bisect_left(self.places, last)]:
                if number.apart is None and (number.line, number.found.end) <= last:
                    yield number

    def bind_tables(self) -> set[str]:
        """Bind the cells of tables, each table near its own caption; return the tables that are found."""
        placed = set()
        for table in self.paper.tables:
            for number, check in self._place_table(table):
                placed.add(table.value.table)
                number.bind(check, table.source("table"))
        return placed

    def lack_cells(self, placed: set[str]) -> None:
        """Note the tables that are not found, and cells that neither their table nor a quotation has."""
        read = {check for number in self.numbers for check in number.checks}
        for table in self.paper.tables:
            wanted = dict.fromkeys(check for row in self._rows(table) for _, check in row if not check.endswith("/*"))
            missing = [check for check in wanted if check not in read]
            if missing and table.value.table not in placed:
                self._lack(table.value.called, "not found in the document", table.source("table"))
            elif missing:
                count = count_of(len(missing), "number")
                names = list_some([name.partition("/")[2] for name in missing], 5)
                self._lack(table.value.called, f"{count} of the spec not found there: {names}", table.source("table"))

    def bind_claims(self) -> None:
        """Bind the numbers of a claim's quotation that the claim is checked by, whatever their signs."""
        for claim in self.paper.claims:
            entry, source = claim.value, claim.source("text")
            keys = {key for text in _claim_texts(entry, self.known) for key in unsigned_keys(text)}
            spans = self.quotes.find_parts(re.sub(r"\s*\(caption of [^()]*\)\Z", "", entry.text))
            for number in self.within(spans):
                if number.found.unsigned in keys:
                    number.bind(f"{self.paper.id}/claims/{entry.id}", source)
            if not spans and keys & {number.unsigned for number in find_quantities(entry.text)}:
                self._lack(f"the text of claims/{entry.id}", "not found in the document", source)

    def bind_equations(self) -> None:
        """Bind the numbers of statements about functions that quote the document word by word."""
        for claim in claims_of(self.paper, self.known).values():
            if isinstance(claim, ClaimText) and claim.literal and len(fold(claim.form)) >= _SHORTEST:
                for number in self.within(self.quotes.find_parts(claim.form)):
                    number.bind(claim.id, Source(file=claim.file, line=claim.line))

    def bind_entries(self) -> None:
        """Bind or explain what the paper's coverage names: numbered parts, sentences, and numbers by quotation."""
        parts = find_parts(self.lines)
        for located in self.paper.coverage:
            for at, entry in enumerate(located.value.entries):
                sentence = _SENTENCE.fullmatch(entry.item)
                spans = self.quotes.find(sentence[1]) if sentence is not None else parts.get(entry.item, [])
                for number in self.within(spans):
                    number.settle(entry, located.source("entries", at))
            for at, numbers in enumerate(located.value.numbers):
                for place, quote in enumerate(numbers.near):
                    self._settle_quoted(quote, numbers, located.source("numbers", at, "near", place))

    def _settle_quoted(self, quote: str, entry: NumbersEntry, source: Source) -> None:
        spans = self.quotes.find(quote)
        if len(spans) != 1:
            shown = quote if len(quote) <= _LONGEST else f"{quote[:_LONGEST].rstrip()}…"
            often = f"stands there {len(spans)} times, so it names no place: quote more of it"
            self._lack(f"the quotation “{shown}”", often if spans else "not found in the document", source)
            return
        meant = {key for text in entry.numbers or () for key in unsigned_keys(text)}
        for number in self.within(spans):
            if entry.numbers is None or number.found.unsigned in meant:
                number.settle(entry, source)

    def _lack(self, what: str, reason: str, source: Source) -> None:
        self.unplaced.append(UnplacedPart(what=what, reason=reason, source=source))

    def _rows(self, table: Located[PrintedTable]) -> list[list[_Wanted]]:
        """Return the numbers of each row: those of its label, such as n = 3 but not LVT-R4, its cells and changes."""
        return [
            [
                *((number.key, f"{row.id}/*") for number in find_quantities(row.row.label)),
                *(
                    (key, f"{row.id}/{column}{ending}")
                    for column in row.row.printed
                    for ending, texts in (("", row.row.printed), (".delta", row.row.delta))
                    for key in keys_of(texts.get(column, ""))
                ),
            ]
            for row in rows_of_table(self.paper, table)
        ]

    def _place_table(self, table: Located[PrintedTable]) -> list[_Pair]:
        """Return the numbers of a document that are a table's cells, each with its check; none where it is not found.

        A table stands near its caption, its rows in order, or its columns where rows go down.
        """
        rows = self._rows(table)
        cells = [one for row in rows for one in row if not one[1].endswith("/*")]
        columns = [
            [one for one in cells if one[1].removesuffix(".delta").endswith(f"/{name}")] for name in table.value.columns
        ]
        best: list[_Pair] = []
        for window, own in find_windows(table.value, self.lines):
            if not own and 2 * _count_cells(best) >= len(cells):
                break
            there = [number for line in window for number in self._cells_of(line)]
            for shape in (rows, columns):
                found = _match(shape, there)
                if _count_cells(found) > _count_cells(best) and (own or 5 * _count_cells(found) >= 3 * len(cells)):
                    best = found
        return [*best, *self._other_sides(best)]

    def _cells_of(self, line: int) -> list[_PlacedNumber]:
        """Return the quantities of a line that may be a row, and are no cells yet; of 16 x 16 only the first."""
        text = self.lines[line].text
        numbers = [one for one in self.by_line.get(line, ()) if one.apart is None and not one.checks]
        if not _CELLS.search(text) and len(text.split()) > _MOST_WORDS:
            return []
        befores: list[_PlacedNumber | None] = [None, *numbers]
        return [one for one, before in zip(numbers, befores, strict=False) if not self._squares(before, one)]

    def _squares(self, before: _PlacedNumber | None, number: _PlacedNumber) -> bool:
        """Return whether a number repeats the one before it as the other side of a square."""
        if before is None or before.found.key != number.found.key:
            return False
        between = self.lines[number.line].text[before.found.end : number.found.start]
        return _TIMES.fullmatch(between) is not None

    def _other_sides(self, pairs: Sequence[_Pair]) -> Iterator[_Pair]:
        for number, check in pairs:
            numbers = self.by_line[number.line]
            after = numbers[numbers.index(number) + 1 :][:1]
            yield from ((one, check) for one in after if self._squares(number, one))


_Wanted = tuple[str, str]
"""The key of a number that the spec has in a table, and the check that reads it; of a label, that of the whole row."""
_Pair = tuple[_PlacedNumber, str]


def _too_many(document: PrintedDocument, line: DocumentLine) -> str:
    where = f"page {line.page}, line {line.number}" if line.page is not None else f"line {line.number}"
    return (
        f"{document.name} has more than {MOST_NUMBERS} numbers up to {line.file}, {where}: this is data, not a paper's "
        "text; leave out what is not printed, such as the coordinates of figures"
    )


def _match(wanted: Sequence[Sequence[_Wanted]], there: Sequence[_PlacedNumber]) -> list[_Pair]:
    """Pair numbers that are printed alike, in order, where a line of the document has at least half of a row."""
    rows = [(at, key, check) for at, row in enumerate(wanted) for key, check in (*row, (f"end of row {at}", ""))]
    keys: list[str] = []  # an end of a row or a line is like nothing, so that what is alike is in one line
    places: list[_PlacedNumber] = []
    for number in there:
        if places and places[-1].line != number.line:
            keys.append(f"end of line {number.line}")
            places.append(number)
        keys.append(number.found.key)
        places.append(number)
    blocks = SequenceMatcher(None, [key for _, key, _ in rows], keys, autojunk=False).get_matching_blocks()
    pairs = [(rows[a + n], places[b + n]) for a, b, size in blocks for n in range(size)]
    cells = [_count_cells(row) for row in wanted]
    shared = Counter((row, number.line) for (row, _, check), number in pairs if not check.endswith("/*"))
    kept = ((number, check) for (row, _, check), number in pairs if 2 * shared[row, number.line] >= max(1, cells[row]))
    return list(kept)


def _count_cells(pairs: Sequence[tuple[object, str]]) -> int:
    """Return how many pairs are of cells, and not of a row's label."""
    return sum(not check.endswith("/*") for _, check in pairs)


def _claim_texts(claim: ClaimEntry, known: Sequence[Paper]) -> Iterator[str]:
    """Yield the texts whose numbers a claim is checked by; its ids are names of rows and cells, not numbers."""
    for meaning in (claim, claim.charitable):
        if not isinstance(meaning, MeaningEntry) or meaning.reference is not None:
            continue  # a reference is about where numbers stand, and reads none
        yield re.sub(r'"[^"]*(?:/[^"]*"|":)', "", TypeAdapter(object).dump_json(meaning.form).decode())
        yield meaning.meaning or ""
        for name in meaning.ids_named:
            for row in find_rows(known, "/".join(name.split("/")[:3])):
                yield " ".join(number.text for number in find_quantities(row.row.label))
                yield from row.row.printed.values()


def _report(document: PrintedDocument, paper: Paper, covering: _Covering) -> CoverageReport:
    records = tuple(one for line, group in covering.by_line.items() for one in _records(group, document.lines[line]))
    unplaced = tuple(covering.unplaced)
    report = CoverageReport(document=document.name, paper=paper.id, numbers=records, unplaced=unplaced)
    covered = report.count(NumberState.BOUND) + report.count(NumberState.EXPLAINED)
    notes = [*document.notes]
    if 10 * covered < report.quantities:
        notes.append(
            f"the specs of {paper.id} read or explain only {covered} of {report.quantities} numbers: they may be "
            "those of another document"
        )
    if not report.quantities:
        notes.append("no number was found in it")
    return report.model_copy(update={"notes": tuple(notes)})


def _records(numbers: Sequence[_PlacedNumber], line: DocumentLine) -> Iterator[CoveredNumber]:
    """Yield the records of a line's numbers; those of one state that are near each other have one context."""
    first = 0
    for at, number in enumerate(numbers, 1):
        after = numbers[at] if at < len(numbers) else None
        if after is None or after.state is not number.state or after.found.start - number.found.end > _AROUND:
            start, end = max(0, numbers[first].found.start - _AROUND), number.found.end + _AROUND
            context = f"{'…' if start else ''}{line.text[start:end]}{'…' if len(line.text) > end else ''}"
            yield from (_record(one, line, " ".join(context.split())) for one in numbers[first:at])
            first = at


def _record(number: _PlacedNumber, line: DocumentLine, context: str) -> CoveredNumber:
    reason = str(number.apart or "") or ("" if number.checks else "; ".join(number.reasons))
    return CoveredNumber(
        file=line.file,
        page=line.page,
        line=line.number,
        text=number.found.text,
        context=context,
        state=number.state,
        checks=tuple(number.checks),
        reason=reason or None,
        sources=tuple(number.sources),
    )
