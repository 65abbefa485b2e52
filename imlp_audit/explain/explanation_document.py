"""What `explain` and `count` found, as documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import assert_never

from imlp_audit.explain.cells import ROUNDED
from imlp_audit.numbers.interval import decimal_text, readable
from imlp_audit.records.check import EquationCheck
from imlp_audit.records.counted import COUNTERS, PROGRAMS, CountReport, ModelPart, PrintedNumber
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
from imlp_audit.report import document as doc
from imlp_audit.report.verdicts import write_verdict

_LISTED = 12  # cells; more are not listed one by one
_SMALL = Fraction(2, 100)  # of the total; smaller parts that stay as they are share a line


def explanation_document(explanation: Explanation) -> doc.Document:
    """Write an explanation: the verdict, the facts it rests on, and where its numbers come from."""
    return tuple(_write(explanation))


def _write(explanation: Explanation) -> Iterator[doc.Block]:
    check = explanation.check
    yield doc.Heading((doc.code(check.id), ": ", write_verdict(check)), 1)
    yield doc.List(tuple(doc.Item(fact.text, label=fact.label) for fact in explanation.facts))
    if isinstance(check, EquationCheck) and check.counterexample:
        yield doc.Heading("Counterexample", 2)
        yield doc.Paragraph("The statement is false for these numbers, the smallest that were found:")
        yield doc.Code("\n".join(check.counterexample))
    for section in explanation.sections:
        yield from describe_section(section)
    finding = explanation.finding
    if finding is not None:
        yield doc.Heading(f"Finding: {finding.title}", 2)
        facts = (("id", finding.id), ("kind", finding.kind.value), ("why", finding.why))
        yield doc.List(tuple(doc.Item(text, label=label) for label, text in facts))


def describe_section(section: Section) -> Iterator[doc.Block]:
    """Yield what an explanation says in a section."""
    match section:
        case Measurements():
            return _describe_measurements(section)
        case Breakdown():
            return _describe_breakdown(section)
        case Causes():
            return iter((doc.Heading("What would give the printed number", 2), *explain_number(section.number)))
        case RowByRow():
            return iter((doc.Heading("Row by row", 2), doc.Table(("row", "values", "outcome"), section.rows)))
        case RestsOn():
            return _describe_related(section)
        case _:
            assert_never(section)


def _describe_measurements(section: Measurements) -> Iterator[doc.Block]:
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
    aligned = (*doc.number_columns(header[:-1], 1 + by_convention), doc.Align.LEFT)
    yield doc.Heading("Measured under each reading of the text" if section.names == "reading" else "Measured", 2)
    yield doc.Table(header, tuple(rows), aligned)
    yield doc.Paragraph(f"The gap is the distance from {section.printed}, in units of its last digit.")


def _describe_breakdown(section: Breakdown) -> Iterator[doc.Block]:
    yield doc.Heading("Where the number comes from", 2)
    counted = f"{section.counted[0].upper()}{section.counted[1:]}"
    reading = f", reading {section.reading}" if section.reading is not None else ""
    against = f", against {section.baseline}" if section.baseline is not None else ""
    yield doc.Paragraph(f"{counted}{reading}{against}:")
    if section.failure is not None:
        yield doc.Paragraph(f"The baseline could not be counted: {section.failure}")
    if section.baseline is None:
        yield _share_table(section.model, section.parts)
        return
    yield _difference_table(section.baseline, section.model, _merge_small(section.parts))
    yield doc.Paragraph(_describe_change(section.parts))


def _share_table(model: str, amounts: Sequence[Amount]) -> doc.Table:
    whole = sum(one.amount for one in amounts)
    rows = tuple((one.name, readable(one.amount), _percent(one.amount, whole)) for one in amounts)
    header = ("part", model, "share")
    return doc.Table(
        header, (*rows, (doc.strong("total"), doc.strong(readable(whole)), "")), doc.number_columns(header)
    )


def _difference_table(base: str, model: str, amounts: Sequence[Amount]) -> doc.Table:
    whole = Amount(
        name="total", amount=sum(one.amount for one in amounts), baseline=sum(one.baseline or 0 for one in amounts)
    )
    rows = [
        (one.name, readable(one.baseline or 0), readable(one.amount), _write_signed(_difference(one)))
        for one in (*amounts, whole)
    ]
    header = ("part", base, model, "difference")
    return doc.Table(header, (*rows[:-1], tuple(map(doc.strong, rows[-1]))), doc.number_columns(header))


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


def _describe_related(section: RestsOn) -> Iterator[doc.Block]:
    cells = section.cells
    yield doc.Heading("The printed numbers that this rests on", 2)
    if len(cells) > _LISTED:
        tables = dict.fromkeys("/".join(cell.id.split("/")[:2]) for cell in cells)
        yield doc.Paragraph(f"There are {len(cells)} of them.")
        for table in tables:
            listing = f"`imlp-audit list --only '{table}/*'` lists the ids of the numbers"
            yield doc.Paragraph(doc.parse_code(f"{listing}; `imlp-audit explain ID` explains one."))
        return
    checked = any(cell.verdict for cell in cells)
    rows: Sequence[tuple[doc.Inline, ...]] = [
        (doc.code(cell.id), f"{cell.printed} {cell.unit}", *((cell.verdict or "",) if checked else ()))
        for cell in cells
    ]
    yield doc.Table(("id", "printed", *(("verdict",) if checked else ())), tuple(rows))


_MOST_ARGUMENTS, _LONGEST_ARGUMENT = 12, 40  # arguments that are shown, and characters of one


def counted_document(model: CountReport, depth: int) -> doc.Document:
    """Return the whole answer of `count`."""
    return tuple(_describe_model(model, depth))


def _describe_model(model: CountReport, depth: int) -> Iterator[doc.Block]:
    yield doc.Paragraph((doc.strong(f"{model.model}{_write_arguments(model.arguments)}"),))
    for printed in model.printed:
        yield from explain_number(printed, model)
    yield doc.Heading("Parameters", 2)
    rows: list[tuple[doc.Inline, ...]] = [
        (words, readable(model.parameters[name])) for name, words in COUNTERS.items() if name in model.parameters
    ]
    rows += [("in buffers", readable(model.buffers)), ("bytes of both", readable(model.bytes))]
    yield doc.Table((), tuple(rows), doc.number_columns(("", "")))
    yield doc.Heading("FLOPs of one forward pass", 2)
    if model.flops is None:
        yield doc.Paragraph(f"Not counted: {model.no_flops}.")
    else:
        rows = [(words, readable(model.flops[name])) for name, words in COUNTERS.items() if name in model.flops]
        yield doc.Paragraph(f"on {', '.join(model.inputs)}")
        yield doc.Table((), tuple(rows), doc.number_columns(("", "")))
    if model.left_out:
        yield doc.Paragraph(f"Missing here, and left out of the count: {', '.join(model.left_out)}.")
    if model.uncounted:
        yield doc.Paragraph(f"Too low: no formula counts {', '.join(model.uncounted)}.")
    yield doc.Heading("Parts", 2)
    yield _tree_of(model, depth)
    if model.notes:
        yield doc.List(tuple(doc.Item(note, label="note") for note in model.notes))


def _write_arguments(arguments: Mapping[str, object]) -> str:
    texts = ((name, f"{value}") for name, value in arguments.items())
    shown = [f"{name}={text if len(text) < _LONGEST_ARGUMENT else '...'}" for name, text in texts]
    more = [f"{len(shown) - _MOST_ARGUMENTS} more"] if len(shown) > _MOST_ARGUMENTS else []
    return f" ({', '.join(shown[:_MOST_ARGUMENTS] + more)})" if shown else ""


def explain_number(printed: PrintedNumber, model: CountReport | None = None) -> Iterator[doc.Block]:
    """Yield whether a number follows, and what else would give it; or that FLOPs were not counted, and why."""
    no_flops, left_out, beyond = (model.no_flops, model.left_out, model.beyond) if model is not None else (None, (), {})
    measure = "FLOPs" if printed.measure == "flops" else printed.measure
    if printed.measured is None:
        why = f": {no_flops}" if no_flops is not None else ""
        text = f": it cannot be told whether it follows, because {measure} were not counted{why}."
        yield doc.Paragraph((doc.strong(f"{printed.printed} {measure}"), text))
        return
    without = f" without {', '.join(left_out)}, which could not be counted" if left_out else ""
    ours = f"the model has {readable(int(printed.measured))}{without}"
    if printed.follows:
        by = ", ".join(
            f"{PROGRAMS[name]} {readable(count)}{_write_beyond(beyond.get(name, {}), count)}"
            for name, count in printed.otherwise.items()
        )
        others = f" Other counters (in brackets what makes most of the difference): {by}." if by else ""
        yield doc.Paragraph((doc.strong(f"{printed.printed} {measure}"), f" follows: {ours}.{others}"))
        return
    yield doc.Paragraph(
        (doc.strong(f"{printed.printed} {measure}"), f" {'is open' if left_out else 'does not follow'}: {ours}.")
    )
    if not printed.causes:
        yield doc.Paragraph(_none_found(printed))
    named = printed.causes or printed.possible
    if named:
        yield doc.List(tuple(doc.Item(str(one), label=str(at)) for at, one in enumerate(named, start=1)))


def _write_beyond(kinds: Mapping[str, int], count: int) -> str:
    """Say of which two classes of modules a counter counts most more, or less, than multiply-accumulates."""
    if 2 * sum(kinds.values()) == count:
        return " (two for each multiply-accumulate)"
    most = sorted(kinds.items(), key=lambda one: -abs(one[1]))[:2]
    return f" ({', '.join(f'{kind} {_write_signed(more)}' for kind, more in most)})" if most else ""


def _none_found(printed: PrintedNumber) -> str:
    tried = f"{readable(printed.tried)} values were tried"
    if printed.possible:
        return (
            f"These print so too, the most usual first, but {tried}, of which {printed.expected:.2g} would by chance: "
            "give more of the printed numbers to decide."
        )
    near = f" A near one is {printed.nearest}." if printed.nearest is not None else ""
    return f"No cause was found: {tried}.{near}"


def _tree_of(model: CountReport, depth: int) -> doc.Table:
    header = ("module", "", "calls", "parameters", "share", "multiply-accumulates", "share")
    columns = range(len(header)) if model.flops is not None else (0, 1, 3, 4)
    whole, work = model.parameters["all"], (model.flops or {}).get("macs", 0)
    rows = [tuple(_part_cells(part, whole, work)) for part in model.parts if part.depth <= depth]
    kept = tuple(header[at] for at in columns)
    return doc.Table(kept, tuple(tuple(row[at] for at in columns) for row in rows), doc.number_columns(kept, first=2))


def _part_cells(part: ModelPart, whole: int, work: int) -> Iterator[doc.Inline]:
    name = part.path.rpartition(".")[2] if part.depth > 1 else part.path
    yield doc.code(f"{'  ' * (part.depth - 1)}{name}") if part.depth else "the whole"
    yield f"{part.copies} x {part.kind}" if part.copies > 1 else part.kind
    yield "" if part.calls is None else readable(part.calls)
    parameters, own = part.parameters * part.copies, (part.work or 0) * part.copies  # of all copies, as the shares
    yield readable(parameters)
    yield f"{parameters / whole:.1%}" if whole else ""
    yield "" if part.work is None else readable(own)
    yield f"{own / work:.1%}" if work else ""
