"""What `count` found, as a document: the totals, the work by every counter, the parts, and why a number differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from imlp_audit.explain.causes import COUNTERS
from imlp_audit.numbers.interval import readable
from imlp_audit.records.counted import CountReport, ModelPart, PrintedNumber
from imlp_audit.report.document import (
    Block,
    Document,
    Heading,
    Inline,
    Item,
    List,
    Paragraph,
    Table,
    code,
    number_columns,
    strong,
)

_MOST, _LONGEST = 12, 40  # arguments that are shown, and characters of one


def counted_document(model: CountReport, depth: int) -> Document:
    """Return the whole answer of `count`."""
    return tuple(_blocks(model, depth))


def _blocks(model: CountReport, depth: int) -> Iterator[Block]:
    yield Paragraph((strong(f"{model.model}{_write_arguments(model.arguments)}"),))
    for printed in model.printed:
        yield from explain_number(printed, model.no_flops)
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
    yield _tree(model, depth)
    if model.notes:
        yield List(tuple(Item(note, label="note") for note in model.notes))


def _write_arguments(arguments: Mapping[str, object]) -> str:
    """Write the arguments; a configuration's by its size."""
    shown = [f"{name}={value}" if len(f"{value}") < _LONGEST else f"{name}=..." for name, value in arguments.items()]
    more = [f"{len(shown) - _MOST} more"] if len(shown) > _MOST else []
    return f" ({', '.join(shown[:_MOST] + more)})" if shown else ""


def explain_number(printed: PrintedNumber, no_flops: str | None = None) -> Iterator[Block]:
    """Yield whether a number follows, and what else would give it; or that FLOPs were not counted, and why."""
    measure = "FLOPs" if printed.measure == "flops" else printed.measure
    if printed.measured is None:
        why = f": {no_flops}" if no_flops is not None else ""
        text = f": it cannot be told whether it follows, because {measure} were not counted{why}."
        yield Paragraph((strong(f"{printed.printed} {measure}"), text))
        return
    ours = f"the model has {readable(int(printed.measured))}"
    if printed.follows:
        yield Paragraph((strong(f"{printed.printed} {measure}"), f" follows: {ours}."))
        return
    yield Paragraph((strong(f"{printed.printed} {measure}"), f" does not follow: {ours}."))
    for line in _none_found(printed) if not printed.causes else ():
        yield Paragraph(line)
    named = printed.causes or printed.possible
    if named:
        yield List(tuple(Item(str(one), label=str(at)) for at, one in enumerate(named, start=1)))


def _none_found(printed: PrintedNumber) -> Iterator[str]:
    tried = f"{readable(printed.tried)} values were tried"
    if printed.possible:
        yield (
            f"These print so too, the most usual first, but {tried}, of which {printed.expected:.2g} would by chance: "
            "give more of the printed numbers to decide."
        )
    else:
        nearest = f" The nearest is {printed.nearest}." if printed.nearest is not None else ""
        yield f"Nothing that was tried gives it: {tried}.{nearest}"


def _tree(model: CountReport, depth: int) -> Table:
    header = ("module", "", "calls", "parameters", "share", "multiply-accumulates", "share")
    columns = range(len(header)) if model.flops is not None else (0, 1, 3, 4)
    whole, work = model.parameters["all"], (model.flops or {}).get("macs", 0)
    rows = [tuple(_row(part, whole, work)) for part in model.parts if part.depth <= depth]
    kept = tuple(header[at] for at in columns)
    return Table(kept, tuple(tuple(row[at] for at in columns) for row in rows), number_columns(kept, first=2))


def _row(part: ModelPart, whole: int, work: int) -> Iterator[Inline]:
    name = part.path.rpartition(".")[2] if part.depth > 1 else part.path
    yield code(f"{'  ' * (part.depth - 1)}{name}") if part.depth else "the whole"
    yield f"{part.copies} x {part.kind}" if part.copies > 1 else part.kind
    yield "" if part.calls is None else readable(part.calls)
    parameters, own = part.parameters * part.copies, (part.work or 0) * part.copies  # of all copies, as the shares
    yield readable(parameters)
    yield f"{parameters / whole:.1%}" if whole else ""
    yield "" if part.work is None else readable(own)
    yield f"{own / work:.1%}" if work else ""
