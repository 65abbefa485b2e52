"""The JSON of commands that list: checks, and what a document covers."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from imlp_audit.records.base import Count, JsonDocument, Record
from imlp_audit.records.check import Source


class ListedCheck(Record):
    """A check by its id, and the place in the specs that it comes from."""

    id: str
    file: str
    line: int


class CheckList(JsonDocument):
    """Checks in the order of the specs."""

    FORMAT: ClassVar = "imlp-audit/list/1"
    WRITTEN_BY: ClassVar = "imlp-audit list"

    checks: tuple[ListedCheck, ...]


class NumberState(StrEnum):
    """What became of a number; those that are `apart` are not quantities, and count in no share."""

    BOUND = "bound"
    EXPLAINED = "explained"
    OPEN = "open"
    APART = "apart"


class CoveredNumber(Record):
    """A number as the document prints it, the line it stands on, and the words around it.

    `checks` are the checks that read it, and `sources` the entries of the specs that say so; `reason` is why no check
    does, or what the number is if it is not a quantity. A `page` is that of a PDF.
    """

    page: int | None = None
    line: int
    text: str
    context: str
    state: NumberState
    checks: tuple[str, ...] = ()
    reason: str | None = None
    sources: tuple[Source, ...] = ()


class UnplacedPart(Record):
    """Something of the specs that is not found in the document, or not all of it, and why that matters."""

    what: str
    reason: str
    source: Source


class CoverageReport(JsonDocument):
    """Every number of a document, held against the specs of a paper; `notes` concern the whole document."""

    FORMAT: ClassVar = "imlp-audit/coverage/2"
    WRITTEN_BY: ClassVar = "imlp-audit coverage"
    COMPUTED: ClassVar = ("summary",)

    document: str
    paper: str
    numbers: tuple[CoveredNumber, ...]
    unplaced: tuple[UnplacedPart, ...] = ()
    notes: tuple[str, ...] = ()

    def count(self, state: NumberState) -> Count:
        """Return how many numbers are in a state."""
        return sum(number.state is state for number in self.numbers)

    @property
    def quantities(self) -> int:
        """How many numbers count in the share."""
        return len(self.numbers) - self.count(NumberState.APART)

    def body(self) -> dict[str, object]:
        """Return the document, with its counts."""
        counts = {str(state): self.count(state) for state in NumberState}
        return {**super().body(), "summary": {**counts, "numbers": self.quantities}}
