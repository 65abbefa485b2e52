"""Sections about totals over a model, as blocks of a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from imlp_audit.numbers.interval import decimal_text, readable
from imlp_audit.numbers.words import count_of
from imlp_audit.records.explanation import (
    Amount,
    AxisSource,
    BlockFormula,
    Breakdown,
    FormulaTerm,
    NearestReadings,
    NearReading,
    ReadingSearch,
    TextFormula,
)
from imlp_audit.report.document import (
    Align,
    Block,
    Heading,
    Inline,
    Item,
    List,
    Paragraph,
    Table,
    number_columns,
    parse_code,
    strong,
)

_SMALL = Fraction(2, 100)  # of the total; smaller parts that stay as they are share a line
_SYMBOLS = {
    "V": "words",
    "C": "channels",
    "D_C": "hidden channels",
    "n": "tokens",
    "L": "layers",
    "P": "positions",
    "K": "classes",
    "d": "channels of the attention",
}


def describe_breakdown(section: Breakdown) -> Iterator[Block]:
    """Yield a table by part of the model, and one by kind of parameter or class of work."""
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
    return Table(header, (*rows, _total_row("total", readable(whole), "")), number_columns(header))


def _difference_table(name: str, base: str, model: str, amounts: Sequence[Amount]) -> Table:
    whole = Amount(
        name="total", amount=sum(one.amount for one in amounts), baseline=sum(one.baseline or 0 for one in amounts)
    )
    rows = [
        (one.name, readable(one.baseline or 0), readable(one.amount), _write_signed(_difference(one)))
        for one in (*amounts, whole)
    ]
    header = (name, base, model, "difference")
    return Table(header, (*rows[:-1], _total_row(*rows[-1])), number_columns(header))


def _total_row(*cells: str) -> tuple[Inline, ...]:
    return tuple(strong(cell) for cell in cells)


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


def describe_block_formula(section: BlockFormula) -> Iterator[Block]:
    """Yield the formula of a block part by part, and what it comes to for each size of block."""
    yield Heading(f"The {section.noun} of one IMLP block", 2)
    dimensions = ["C channels", "C' channels before FC2"]
    dimensions += ["an n x n kernel"] if "n" in section.symbols else []
    extra = f" + {section.extra_tokens}" if section.extra_tokens else ""
    dimensions += [f"N{extra} tokens"] if "N" in section.symbols else []
    yield Paragraph(f"With {', '.join(dimensions)}:")
    parts = tuple((term.part, term.formula) for term in section.terms)
    yield Table(("part", "formula"), (*parts, _total_row("one block", section.block)))
    blank = ("",) * len(section.symbols)
    sizes = tuple(
        (
            count_of(size.blocks, "block"),
            *map(readable, size.values),
            readable(size.one),
            readable(size.blocks * size.one),
        )
        for size in section.sizes
    )
    header = ("", *section.symbols, "one block", "all of them")
    rest = ("the model without them", *blank, "", readable(section.rest))
    total = _total_row("sum", *blank, "", readable(section.total))
    yield Table(header, (*sizes, rest, total), number_columns(header))
    yield _compare_with_measured(section)


def describe_text_formula(section: TextFormula) -> Iterator[Block]:
    """Yield the formula of a language model and its numbers part by part."""
    yield Heading(f"The {section.noun} in closed form", 2)
    values = ", ".join(f"{name} = {readable(value)} {_SYMBOLS[name]}" for name, value in section.values.items())
    yield Paragraph(f"With {values}:")
    layer = section.one_layer
    rows: list[tuple[Inline, ...]] = [
        *(_term_row(term) for term in section.around),
        *(_term_row(term, "in a layer: ") for term in section.layer),
        _term_row(layer),
        (
            count_of(section.layers, "layer"),
            f"L ({layer.formula})",
            readable(section.layers * (layer.amount or 0)),
        ),
        _total_row("sum", "", readable(section.total)),
    ]
    yield Table(("part", "formula", section.noun), tuple(rows), (Align.LEFT, Align.LEFT, Align.RIGHT))
    yield _compare_with_measured(section)


def _term_row(term: FormulaTerm, before: str = "") -> tuple[Inline, ...]:
    return f"{before}{term.part}", term.formula, readable(term.amount or 0)


def _compare_with_measured(section: BlockFormula | TextFormula) -> Paragraph:
    if section.total == section.measured:
        return Paragraph(f"The sum equals the measured {section.noun}.")
    return Paragraph(f"The sum differs from the measured {section.noun}, {readable(section.measured)}.")


def describe_readings(section: NearestReadings) -> Iterator[Block]:
    """Yield the answer of each search, and what decides the axes that would have to change."""
    yield Heading("Which readings give the printed number", 2)
    if section.failure is not None:
        yield Paragraph(f"The readings could not be searched: {section.failure}")
    for search in section.searches:
        if search.open_width:
            yield Paragraph("If the row's D_C is open too:")
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
        return f"{first} gives {printed}, and {_describe_others(search.fitting - 1, search.readings - 1)}."
    gives = "gives" if search.fitting == 1 else "give"
    return (
        f"{readable(search.fitting)} of {count_of(search.readings, 'reading')} {gives} {printed}. "
        f"At least {axes} of {first} must change{_ways(search)}:"
    )


def _describe_others(fitting: int, others: int) -> str:
    if fitting == others:
        return "so does the only other reading" if others == 1 else f"so do all {readable(others)} others"
    so = "so does" if fitting == 1 else "so do"
    return f"{so} {readable(fitting)} of the {readable(others)} others" if fitting else "no other reading does"


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
