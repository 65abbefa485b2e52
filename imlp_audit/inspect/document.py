"""What `inspect` found, as a document: the file, the models that it fits, and what its weights show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from imlp_audit.checkpoint.fitting import describe
from imlp_audit.records.checkpoint import CheckpointReport, FittingModel, Inspection, Statement
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
    join,
    strong,
)
from imlp_audit.report.verdicts import verdict_span

_NOISE = (
    "A sentence is reproduced only if it is true of these weights and of no noise of their shapes: 19 times the same "
    "numbers in random places or, where only their sizes matter, 19 times normal and 19 times uniform numbers. Such "
    "noise passes that in at most one case of 20."
)


def checkpoint_document(report: CheckpointReport, shown_as: str) -> Document:
    """Return the whole answer of `inspect` about a file."""
    weights = () if report.weights == Inspection() else inspection_document(report.weights)
    return (*_describe_file(report, shown_as), *_describe_models(report), *weights)


def _describe_file(report: CheckpointReport, shown_as: str) -> Iterator[Block]:
    file = report.file
    numbers = _count(file.parameters, "parameter")
    if file.buffers:
        numbers += f" and {_count(file.buffers, 'number')} in buffers"
    types = ", ".join(name if len(file.dtypes) == 1 else f"{n:,} of {name}" for name, n in file.dtypes.items())
    yield Paragraph((strong(shown_as), f": a {file.container} file"))
    yield List((
        Item(f"{file.bytes:,} bytes", label="size"),
        Item(code(file.sha256), label="SHA-256"),
        Item(f"{_count(file.tensors, 'tensor')} ({types}) with {numbers}", label="holds"),
        *(Item(note, label="note") for note in file.notes),
    ))  # fmt: skip


def _describe_models(report: CheckpointReport) -> Iterator[Block]:
    known = _count(report.models.known, "model")
    if report.exact:
        yield Heading("Fits exactly")
    elif report.nearest:
        yield Heading("Fits no model exactly")
        have = "has" if report.models.compared == 1 else "have"
        similar = f"{report.models.compared:,} {have} similar tensor names"
        yield Paragraph(f"The papers have {known}; {similar}. The nearest:")
    else:
        yield Heading("Fits no model")
        others = " of the others" if report.models.untrusted else ""
        if report.models.known > report.models.untrusted:
            yield Paragraph(f"The papers have {known}, none{others} with tensors of these names and widths.")
    if report.models.untrusted:
        closed = _count(report.models.untrusted, "model")
        yield Paragraph(f"{closed} could not be compared, because the code is not trusted; pass --trust-code.")
    if report.exact or report.nearest:
        yield List(tuple(map(_describe_model, report.exact or report.nearest)))


def _describe_model(model: FittingModel) -> Item:
    facts: list[Inline] = [join(map(code, model.places))]
    if model.readings:
        readings = "reading" if len(model.readings) == 1 else "readings"
        facts.append((f"under the {readings} ", *join(map(code, model.readings))))
    return Item(
        (strong(model.label), "  ", code(f"{{{model.model}}}")), (*facts, *model.notes, *map(describe, model.problems))
    )


def inspection_document(inspection: Inspection) -> Document:
    """Return what the weights show as a section."""
    statements = inspection.statements
    return (
        Heading("What the weights show"),
        *([Paragraph(f"{inspection.untrained[0].upper()}{inspection.untrained[1:]}.")] if inspection.untrained else []),
        *(_describe_sentences(statements) if statements else ()),
    )


def _describe_sentences(statements: Sequence[Statement]) -> Iterator[Block]:
    yield Heading("What papers say about learned weights", 3)
    yield Table(("sentence", "verdict", "measured here"), tuple(map(_sentence_row, statements)))
    yield Paragraph(_NOISE)
    yield Paragraph("How each sentence is measured and judged:")
    yield List(tuple((code(one.id), f": {one.measured}. True if: {one.judged}") for one in statements))


def _sentence_row(one: Statement) -> tuple[Inline, ...]:
    place = f"“{one.sentence}” ({one.paper}, {one.place}) "
    return ((place, code(one.id)), verdict_span(one.verdict), one.reason)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
