"""What became of each number, as the record that the command prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from imlp_audit.records.listing import CoverageReport, CoveredNumber, NumberState, UnplacedPart
from imlp_audit.spec.paper import Paper
from imlp_audit.transcribe.coverage.lines import DocumentLine, PrintedDocument
from imlp_audit.transcribe.coverage.numbers import NumberIndex, PlacedNumber

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
