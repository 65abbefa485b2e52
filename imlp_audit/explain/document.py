"""An explanation as a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import assert_never

from imlp_audit.explain.printed import ROUNDED
from imlp_audit.explain.total_document import (
    describe_block_formula,
    describe_breakdown,
    describe_readings,
    describe_text_formula,
)
from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.printed import Rounding
from imlp_audit.records.explanation import (
    BlockFormula,
    Breakdown,
    Explanation,
    MeasuredValue,
    Measurements,
    NearestReadings,
    RestsOn,
    RowByRow,
    Section,
    TableNumbers,
    TextFormula,
)
from imlp_audit.records.finding import Finding
from imlp_audit.report.document import (
    Align,
    Block,
    Code,
    Document,
    Heading,
    Inline,
    Item,
    List,
    Paragraph,
    Table,
    code,
    number_columns,
    parse_code,
)
from imlp_audit.report.verdicts import replay_command, write_verdict

_LISTED = 12  # cells; more are not listed one by one
_WORDS = frozenset({"row", "quantity", "has to be", "outcome"})  # columns that hold no numbers


def explanation_document(explanation: Explanation) -> Document:
    """Write an explanation: the verdict, the facts it rests on, and where its numbers come from."""
    return tuple(_blocks(explanation))


def _blocks(explanation: Explanation) -> Iterator[Block]:
    check = explanation.check
    yield Heading((code(check.id), ": ", write_verdict(check)), 1)
    yield List(tuple(Item(fact.text, label=fact.label) for fact in explanation.facts))
    if check.counterexample:
        yield Heading("Counterexample", 2)
        yield Paragraph("The statement is false for these numbers, the smallest that were found:")
        yield Code("\n".join(check.counterexample))
    if check.replay is not None:
        yield Paragraph("To run this example alone:")
        yield Code(replay_command(check))
    for section in explanation.sections:
        yield from _describe(section)
    if explanation.finding is not None:
        yield from _describe_finding(explanation.finding)


def _describe_finding(finding: Finding) -> Iterator[Block]:
    yield Heading(f"Finding: {finding.title}", 2)
    facts = (("id", finding.id), ("kind", finding.kind.value), ("why", finding.why))
    yield List(tuple(Item(text, label=label) for label, text in facts))


def _describe(section: Section) -> Iterator[Block]:
    match section:
        case Measurements():
            return _describe_measurements(section)
        case Breakdown():
            return describe_breakdown(section)
        case BlockFormula():
            return describe_block_formula(section)
        case TextFormula():
            return describe_text_formula(section)
        case NearestReadings():
            return describe_readings(section)
        case RowByRow():
            return _describe_rows(section)
        case RestsOn():
            return _describe_related(section)
        case TableNumbers():
            return iter((_say_how_to_list(section.glob),))
        case _:
            assert_never(section)


def _describe_measurements(section: Measurements) -> Iterator[Block]:
    by_convention = any(value.convention for value in section.values)
    header = (
        section.names,
        *(("counted by",) if by_convention else ()),
        *section.counts,
        "change (%)" if section.in_percent else "measured",
        "gap",
        "",
    )
    rows = tuple(
        (
            value.name,
            *((value.convention or "",) if by_convention else ()),
            *value.counts,
            readable(Fraction(value.measured)),
            value.gap,
            _describe_fit(value, section.printed, section.rounding),
        )
        for value in section.values
    )
    aligned = (*number_columns(header[:-1], 1 + by_convention), Align.LEFT)
    yield Heading("Measured under each reading of the text" if section.names == "reading" else "Measured", 2)
    yield Table(header, rows, aligned)
    yield Paragraph(f"The gap is the distance from {section.printed}, in units of its last digit.")


def _describe_fit(value: MeasuredValue, printed: str, rounding: Rounding) -> str:
    if value.prints_by is None:
        return ""
    return f"prints as {printed}" + ("" if value.prints_by is rounding else f" if {ROUNDED[value.prints_by]}")


def _describe_rows(section: RowByRow) -> Iterator[Block]:
    yield Heading("Row by row", 2)
    if section.direction is not None:
        yield Paragraph(f"The values have to be {section.direction}.")
    if section.lines:
        yield List(section.lines)
    else:
        align = tuple(Align.LEFT if name in _WORDS else Align.RIGHT for name in section.header)
        yield Table(section.header, section.rows, align)


def _describe_related(section: RestsOn) -> Iterator[Block]:
    cells = section.cells
    yield Heading("The printed numbers that this rests on", 2)
    if len(cells) > _LISTED:
        tables = dict.fromkeys("/".join(cell.id.split("/")[:2]) for cell in cells)
        yield Paragraph(f"There are {len(cells)} of them.")
        for table in tables:
            yield _say_how_to_list(f"{table}/*")
        return
    checked = any(cell.verdict for cell in cells)
    rows: Sequence[tuple[Inline, ...]] = [
        (code(cell.id), f"{cell.printed} {cell.unit}", *((cell.verdict or "",) if checked else ())) for cell in cells
    ]
    yield Table(("id", "printed", *(("verdict",) if checked else ())), tuple(rows))


def _say_how_to_list(glob: str) -> Paragraph:
    return Paragraph(
        parse_code(
            f"`imlp-audit list --only '{glob}'` lists the ids of the numbers; `imlp-audit explain ID` explains one."
        )
    )
