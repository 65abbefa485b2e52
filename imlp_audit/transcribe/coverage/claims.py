"""Which numbers a claim reads: of its quotation, those that its meaning, its conditions or the rows it names hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from imlp_audit.claims.catalogue import ClaimText
from imlp_audit.numbers.forms import DecimalMark, unsigned_keys
from imlp_audit.spec.claim_entries import ClaimEntry, MeaningEntry
from imlp_audit.spec.paper import Paper, find_rows
from imlp_audit.spec.plan import claims_of
from imlp_audit.transcribe.coverage.apart import find_quantities


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
