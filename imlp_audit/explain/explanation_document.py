"""An explanation as a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import assert_never

from imlp_audit.explain.counted_document import explain_number
from imlp_audit.explain.printed import ROUNDED
from imlp_audit.numbers.interval import decimal_text, readable
from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import EquationCheck
from imlp_audit.records.explanation import (
    Amount,
    AxisSource,
    Breakdown,
    Causes,
    Explanation,
    Measurements,
    NearestReadings,
    NearReading,
    ReadingSearch,
    RestsOn,
    RowByRow,
    Section,
    TableNumbers,
)
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
    strong,
)
from imlp_audit.report.verdicts import write_verdict

_LISTED = 12  # cells; more are not listed one by one
_WORDS = frozenset({"row", "values", "quantity", "has to be", "outcome"})  # columns that hold no numbers
_SMALL = Fraction(2, 100)  # of the total; smaller parts that stay as they are share a line


def explanation_document(explanation: Explanation) -> Document:
    """Write an explanation: the verdict, the facts it rests on, and where its numbers come from."""
    return tuple(_write(explanation))


def _write(explanation: Explanation) -> Iterator[Block]:
    check = explanation.check
    yield Heading((code(check.id), ": ", write_verdict(check)), 1)
    yield List(tuple(Item(fact.text, label=fact.label) for fact in explanation.facts))
    if isinstance(check, EquationCheck) and check.counterexample:
        yield Heading("Counterexample", 2)
        yield Paragraph("The statement is false for these numbers, the smallest that were found:")
        yield Code("\n".join(check.counterexample))
    for section in explanation.sections:
        yield from describe_section(section)
    finding = explanation.finding
    if finding is not None:
        yield Heading(f"Finding: {finding.title}", 2)
        facts = (("id", finding.id), ("kind", finding.kind.value), ("why", finding.why))
        yield List(tuple(Item(text, label=label) for label, text in facts))


def describe_section(section: Section) -> Iterator[Block]:
    """Yield what an explanation says in a section."""
    match section:
        case Measurements():
            return _describe_measurements(section)
        case Breakdown():
            return _describe_breakdown(section)
        case NearestReadings():
            return _describe_readings(section)
        case Causes():
            return iter((Heading("What would give the printed number", 2), *explain_number(section.number)))
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
    rows = []
    for value in section.values:
        rule = value.prints_by
        fits = "" if rule is None else f"prints as {section.printed}"
        fits += f" if {ROUNDED[rule]}" if rule not in (None, section.rounding) else ""
        convention = (value.convention or "",) if by_convention else ()
        rows.append((value.name, *convention, *value.counts, readable(Fraction(value.measured)), value.gap, fits))
    aligned = (*number_columns(header[:-1], 1 + by_convention), Align.LEFT)
    yield Heading("Measured under each reading of the text" if section.names == "reading" else "Measured", 2)
    yield Table(header, tuple(rows), aligned)
    yield Paragraph(f"The gap is the distance from {section.printed}, in units of its last digit.")


def _describe_breakdown(section: Breakdown) -> Iterator[Block]:
    yield Heading("Where the number comes from", 2)
    counted = f"{section.counted[0].upper()}{section.counted[1:]}"
    reading = f", reading {section.reading}" if section.reading is not None else ""
    against = f", against {section.baseline_name}" if section.baseline_name is not None else ""
    yield Paragraph(f"{counted}{reading}{against}:")
    if section.failure is not None:
        yield Paragraph(f"The baseline could not be counted: {section.failure}")
    if section.baseline is None:
        yield _share_table("part", section.model, section.parts)
        yield _share_table(section.kinds_of, section.model, section.kinds)
        return
    yield _difference_table("part", section.baseline, section.model, _merge_small(section.parts))
    yield Paragraph(_describe_change(section.parts))
    yield _difference_table(section.kinds_of, section.baseline, section.model, section.kinds)


def _share_table(name: str, model: str, amounts: Sequence[Amount]) -> Table:
    whole = sum(one.amount for one in amounts)
    rows = tuple((one.name, readable(one.amount), _percent(one.amount, whole)) for one in amounts)
    header = (name, model, "share")
    return Table(header, (*rows, (strong("total"), strong(readable(whole)), "")), number_columns(header))


def _difference_table(name: str, base: str, model: str, amounts: Sequence[Amount]) -> Table:
    whole = Amount(
        name="total", amount=sum(one.amount for one in amounts), baseline=sum(one.baseline or 0 for one in amounts)
    )
    rows = [
        (one.name, readable(one.baseline or 0), readable(one.amount), _write_signed(_difference(one)))
        for one in (*amounts, whole)
    ]
    header = (name, base, model, "difference")
    return Table(header, (*rows[:-1], tuple(map(strong, rows[-1]))), number_columns(header))


def _merge_small(amounts: Sequence[Amount]) -> Sequence[Amount]:
    """Put small parts that stay as they are into one line, if there are several."""
    whole = sum(one.baseline or 0 for one in amounts)
    small = [one for one in amounts if one.amount == one.baseline and one.amount < _SMALL * whole]
    if len(small) < 2:
        return amounts
    rest = sum(one.amount for one in small)
    kept = [one for one in amounts if one not in small]
    return [*kept, Amount(name="other parts, all unchanged", amount=rest, baseline=rest)]


def _describe_change(amounts: Sequence[Amount]) -> str:
    """Say how much the total changes, and how much of what some parts save is added back by others."""
    changes = [_difference(one) for one in amounts]
    whole = sum(one.baseline or 0 for one in amounts)
    share = f" ({_percent(sum(changes), whole)})" if whole else ""
    text = f"The total changes by {_write_signed(sum(changes))}{share}."
    less, more = sum(c for c in changes if c < 0), sum(c for c in changes if c > 0)
    if less and more:
        text += f" Some parts save {readable(-less)}; others add {readable(more)}, {_percent(more, -less)} of that."
    return text


def _difference(one: Amount) -> int:
    return one.amount - (one.baseline or 0)


def _write_signed(value: int) -> str:
    return f"+{readable(value)}" if value > 0 else readable(value)


def _percent(amount: int, whole: int) -> str:
    return f"{decimal_text(Fraction(100 * amount, whole), 1)} %" if whole else ""


def _describe_readings(section: NearestReadings) -> Iterator[Block]:
    yield Heading("Which readings give the printed number", 2)
    if section.failure is not None:
        yield Paragraph(f"The readings could not be searched: {section.failure}")
    search = section.search
    if search is not None:
        yield Paragraph(_describe_answer(search, section))
        if not search.fitting or search.found[0].changes:
            yield _near_table(search.found)
    if section.sources:
        yield Paragraph("The sources of these axes:")
        yield List(tuple(_group_sources(section.sources)))
    if section.failure is None:
        text = "This search is about one number; `imlp-audit solve` looks for readings that explain all numbers."
        yield Paragraph(parse_code(text))


def _describe_answer(search: ReadingSearch, section: NearestReadings) -> str:
    away = len(search.found[0].changes)
    axes = "1 axis" if away == 1 else f"{away} axes"
    first, printed = section.first, section.printed
    if not search.fitting:
        near = f"differs from {first} on {axes}" if away else f"is {first} itself"
        none = f"None of all {count_of(search.readings, 'reading')} gives {printed}."
        return f"{none} The nearest miss {near}{_ways(search)}:"
    if not away:
        fitting, others = search.fitting - 1, search.readings - 1
        so = "so does" if fitting == 1 else "so do"
        if fitting == others:
            rest = "so does the only other reading" if others == 1 else f"so do all {readable(others)} others"
        else:
            rest = f"{so} {readable(fitting)} of the {readable(others)} others" if fitting else "no other reading does"
        return f"{first} gives {printed}, and {rest}."
    gives = "gives" if search.fitting == 1 else "give"
    return (
        f"{readable(search.fitting)} of {count_of(search.readings, 'reading')} {gives} {printed}. "
        f"At least {axes} of {first} must change{_ways(search)}:"
    )


def _ways(search: ReadingSearch) -> str:
    if search.ties == 1:
        return ""
    listed = f" ({len(search.found)} are listed)" if search.ties > len(search.found) else ""
    return f", in one of {readable(search.ties)} ways{listed}"


def _near_table(found: Sequence[NearReading]) -> Table:
    by_convention = len({one.convention for one in found}) > 1
    rows = tuple(
        (
            readable(one.value),
            one.gap,
            *((one.convention,) if by_convention else ()),
            ", ".join(f"{change.axis} {change.becomes}" for change in one.changes),
        )
        for one in found
    )
    header = ("number", "gap", *(("counted by",) if by_convention else ()), "with")
    return Table(header, rows, (Align.RIGHT, Align.RIGHT, *(Align.LEFT,) * (len(header) - 2)))


def _group_sources(sources: Sequence[AxisSource]) -> Iterator[Item]:
    for axis in dict.fromkeys(source.axis for source in sources):
        texts = (f"{one.value} in {one.reading} ({one.because})" for one in sources if one.axis == axis)
        yield Item("; ".join(texts), label=axis)


def _describe_rows(section: RowByRow) -> Iterator[Block]:
    yield Heading("Row by row", 2)
    if section.direction is not None:
        yield Paragraph(f"The values have to be {section.direction}.")
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
