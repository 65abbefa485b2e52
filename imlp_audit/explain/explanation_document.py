"""What `explain` and `count` found, as documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import assert_never

from imlp_audit.explain.cells import ROUNDED
from imlp_audit.numbers.interval import decimal_text, readable
from imlp_audit.records.check import EquationCheck
from imlp_audit.records.counted import COUNTERS, CountReport, ModelPart, PrintedNumber
from imlp_audit.records.explanation import (
    Amount,
    Breakdown,
    Causes,
    Explanation,
    Measurements,
    RestsOn,
    RowByRow,
    Section,
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
        case Causes():
            return iter((Heading("What would give the printed number", 2), *explain_number(section.number)))
        case RowByRow():
            return iter((Heading("Row by row", 2), Table(("row", "values", "outcome"), section.rows)))
        case RestsOn():
            return _describe_related(section)
        case _:
            assert_never(section)


def _describe_measurements(section: Measurements) -> Iterator[Block]:
    by_convention = any(value.convention for value in section.values)
    header = (
        section.names,
        *(("counted by",) if by_convention else ()),
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
        rows.append((value.name, *convention, readable(Fraction(value.measured)), value.gap, fits))
    aligned = (*number_columns(header[:-1], 1 + by_convention), Align.LEFT)
    yield Heading("Measured under each reading of the text" if section.names == "reading" else "Measured", 2)
    yield Table(header, tuple(rows), aligned)
    yield Paragraph(f"The gap is the distance from {section.printed}, in units of its last digit.")


def _describe_breakdown(section: Breakdown) -> Iterator[Block]:
    yield Heading("Where the number comes from", 2)
    counted = f"{section.counted[0].upper()}{section.counted[1:]}"
    reading = f", reading {section.reading}" if section.reading is not None else ""
    against = f", against {section.baseline}" if section.baseline is not None else ""
    yield Paragraph(f"{counted}{reading}{against}:")
    if section.failure is not None:
        yield Paragraph(f"The baseline could not be counted: {section.failure}")
    if section.baseline is None:
        yield _share_table(section.model, section.parts)
        return
    yield _difference_table(section.baseline, section.model, _merge_small(section.parts))
    yield Paragraph(_describe_change(section.parts))


def _share_table(model: str, amounts: Sequence[Amount]) -> Table:
    whole = sum(one.amount for one in amounts)
    rows = tuple((one.name, readable(one.amount), _percent(one.amount, whole)) for one in amounts)
    header = ("part", model, "share")
    return Table(header, (*rows, (strong("total"), strong(readable(whole)), "")), number_columns(header))


def _difference_table(base: str, model: str, amounts: Sequence[Amount]) -> Table:
    whole = Amount(
        name="total", amount=sum(one.amount for one in amounts), baseline=sum(one.baseline or 0 for one in amounts)
    )
    rows = [
        (one.name, readable(one.baseline or 0), readable(one.amount), _write_signed(_difference(one)))
        for one in (*amounts, whole)
    ]
    header = ("part", base, model, "difference")
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


def _describe_related(section: RestsOn) -> Iterator[Block]:
    cells = section.cells
    yield Heading("The printed numbers that this rests on", 2)
    if len(cells) > _LISTED:
        tables = dict.fromkeys("/".join(cell.id.split("/")[:2]) for cell in cells)
        yield Paragraph(f"There are {len(cells)} of them.")
        for table in tables:
            listing = f"`imlp-audit list --only '{table}/*'` lists the ids of the numbers"
            yield Paragraph(parse_code(f"{listing}; `imlp-audit explain ID` explains one."))
        return
    checked = any(cell.verdict for cell in cells)
    rows: Sequence[tuple[Inline, ...]] = [
        (code(cell.id), f"{cell.printed} {cell.unit}", *((cell.verdict or "",) if checked else ())) for cell in cells
    ]
    yield Table(("id", "printed", *(("verdict",) if checked else ())), tuple(rows))


_MOST_ARGUMENTS, _LONGEST_ARGUMENT = 12, 40  # arguments that are shown, and characters of one


def counted_document(model: CountReport, depth: int) -> Document:
    """Return the whole answer of `count`."""
    return tuple(_describe_model(model, depth))


def _describe_model(model: CountReport, depth: int) -> Iterator[Block]:
    yield Paragraph((strong(f"{model.model}{_write_arguments(model.arguments)}"),))
    for printed in model.printed:
        yield from explain_number(printed, model.no_flops, model.left_out)
    yield Heading("Parameters", 2)
    rows: list[tuple[Inline, ...]] = [
        (words, readable(model.parameters[name])) for name, words in COUNTERS.items() if name in model.parameters
    ]
    rows += [("in buffers", readable(model.buffers)), ("bytes of both", readable(model.bytes))]
    yield Table((), tuple(rows), number_columns(("", "")))
    yield Heading("FLOPs of one forward pass", 2)
    if model.flops is None:
        yield Paragraph(f"Not counted: {model.no_flops}.")
    else:
        rows = [(words, readable(model.flops[name])) for name, words in COUNTERS.items() if name in model.flops]
        yield Paragraph(f"on {', '.join(model.inputs)}")
        yield Table((), tuple(rows), number_columns(("", "")))
    if model.left_out:
        yield Paragraph(f"Missing here, and left out of the count: {', '.join(model.left_out)}.")
    if model.uncounted:
        yield Paragraph(f"Too low: no formula counts {', '.join(model.uncounted)}.")
    yield Heading("Parts", 2)
    yield _tree_of(model, depth)
    if model.notes:
        yield List(tuple(Item(note, label="note") for note in model.notes))


def _write_arguments(arguments: Mapping[str, object]) -> str:
    """Write the arguments; a configuration's by its size."""
    texts = ((name, f"{value}") for name, value in arguments.items())
    shown = [f"{name}={text if len(text) < _LONGEST_ARGUMENT else '...'}" for name, text in texts]
    more = [f"{len(shown) - _MOST_ARGUMENTS} more"] if len(shown) > _MOST_ARGUMENTS else []
    return f" ({', '.join(shown[:_MOST_ARGUMENTS] + more)})" if shown else ""


def explain_number(
    printed: PrintedNumber, no_flops: str | None = None, left_out: Sequence[str] = ()
) -> Iterator[Block]:
    """Yield whether a number follows, and what else would give it; or that FLOPs were not counted, and why."""
    measure = "FLOPs" if printed.measure == "flops" else printed.measure
    if printed.measured is None:
        why = f": {no_flops}" if no_flops is not None else ""
        text = f": it cannot be told whether it follows, because {measure} were not counted{why}."
        yield Paragraph((strong(f"{printed.printed} {measure}"), text))
        return
    without = f" without {', '.join(left_out)}, which could not be counted" if left_out else ""
    ours = f"the model has {readable(int(printed.measured))}{without}"
    if printed.follows:
        yield Paragraph((strong(f"{printed.printed} {measure}"), f" follows: {ours}."))
        return
    yield Paragraph((strong(f"{printed.printed} {measure}"), f" does not follow: {ours}."))
    if not printed.causes:
        yield Paragraph(_none_found(printed))
    named = printed.causes or printed.possible
    if named:
        yield List(tuple(Item(str(one), label=str(at)) for at, one in enumerate(named, start=1)))


def _none_found(printed: PrintedNumber) -> str:
    tried = f"{readable(printed.tried)} values were tried"
    if printed.possible:
        return (
            f"These print so too, the most usual first, but {tried}, of which {printed.expected:.2g} would by chance: "
            "give more of the printed numbers to decide."
        )
    near = f" A near one is {printed.nearest}." if printed.nearest is not None else ""
    return f"No cause was found: {tried}.{near}"


def _tree_of(model: CountReport, depth: int) -> Table:
    header = ("module", "", "calls", "parameters", "share", "multiply-accumulates", "share")
    columns = range(len(header)) if model.flops is not None else (0, 1, 3, 4)
    whole, work = model.parameters["all"], (model.flops or {}).get("macs", 0)
    rows = [tuple(_part_cells(part, whole, work)) for part in model.parts if part.depth <= depth]
    kept = tuple(header[at] for at in columns)
    return Table(kept, tuple(tuple(row[at] for at in columns) for row in rows), number_columns(kept, first=2))


def _part_cells(part: ModelPart, whole: int, work: int) -> Iterator[Inline]:
    name = part.path.rpartition(".")[2] if part.depth > 1 else part.path
    yield code(f"{'  ' * (part.depth - 1)}{name}") if part.depth else "the whole"
    yield f"{part.copies} x {part.kind}" if part.copies > 1 else part.kind
    yield "" if part.calls is None else readable(part.calls)
    parameters, own = part.parameters * part.copies, (part.work or 0) * part.copies  # of all copies, as the shares
    yield readable(parameters)
    yield f"{parameters / whole:.1%}" if whole else ""
    yield "" if part.work is None else readable(own)
    yield f"{own / work:.1%}" if work else ""
