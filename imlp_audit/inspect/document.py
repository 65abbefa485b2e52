"""What `inspect` found, as a document: the file, the models that it fits, and what its weights show."""

from __future__ import annotations

from collections.abc import Iterator

from imlp_audit.checkpoint.fitting import describe
from imlp_audit.records.checkpoint import CheckpointReport, FittingModel, Inspection, Statement
from imlp_audit.report import document as doc
from imlp_audit.report.verdicts import verdict_span

_NOISE = (
    "A sentence is reproduced only if it is true of these weights and of no noise of their shapes: 19 times the same "
    "numbers in random places or, where only their sizes matter, 19 times normal and 19 times uniform numbers. Such "
    "noise passes that in at most one case of 20."
)


def checkpoint_document(report: CheckpointReport, shown_as: str) -> doc.Document:
    """Return the whole answer of `inspect` about a file."""
    weights = () if report.weights == Inspection() else describe_weights(report.weights)
    return (*_describe_file(report, shown_as), *_describe_models(report), *weights)


def _describe_file(report: CheckpointReport, shown_as: str) -> Iterator[doc.Block]:
    file = report.file
    numbers = _count(file.parameters, "parameter")
    if file.buffers:
        numbers += f" and {_count(file.buffers, 'number')} in buffers"
    types = ", ".join(name if len(file.dtypes) == 1 else f"{n:,} of {name}" for name, n in file.dtypes.items())
    yield doc.Paragraph((doc.strong(shown_as), f": a {file.container} file"))
    yield doc.List((
        doc.Item(f"{file.bytes:,} bytes", label="size"),
        doc.Item(doc.code(file.sha256), label="SHA-256"),
        doc.Item(f"{_count(file.tensors, 'tensor')} ({types}) with {numbers}", label="holds"),
        *(doc.Item(note, label="note") for note in file.notes),
    ))  # fmt: skip


def _describe_models(report: CheckpointReport) -> Iterator[doc.Block]:
    known = _count(report.models.known, "model")
    if report.exact:
        yield doc.Heading("Fits exactly")
    elif report.nearest:
        yield doc.Heading("Fits no model exactly")
        have = "has" if report.models.compared == 1 else "have"
        similar = f"{report.models.compared:,} {have} similar tensor names"
        yield doc.Paragraph(f"The papers have {known}; {similar}. The nearest:")
    else:
        yield doc.Heading("Fits no model")
        others = " of the others" if report.models.untrusted else ""
        if report.models.known > report.models.untrusted:
            yield doc.Paragraph(f"The papers have {known}, none{others} with tensors of these names and widths.")
    if report.models.untrusted:
        closed = _count(report.models.untrusted, "model")
        yield doc.Paragraph(f"{closed} could not be compared, because the code is not trusted; pass --trust-code.")
    if report.exact or report.nearest:
        yield doc.List(tuple(map(_describe_model, report.exact or report.nearest)))


def _describe_model(model: FittingModel) -> doc.Item:
    facts: list[doc.Inline] = [doc.join(map(doc.code, model.places))]
    if model.readings:
        readings = "reading" if len(model.readings) == 1 else "readings"
        facts.append((f"under the {readings} ", *doc.join(map(doc.code, model.readings))))
    return doc.Item(
        (doc.strong(model.label), "  ", doc.code(f"{{{model.model}}}")),
        (*facts, *model.notes, *map(describe, model.problems)),
    )


def describe_weights(inspection: Inspection) -> Iterator[doc.Block]:
    """Yield what the weights show as a section."""
    statements = inspection.statements
    yield doc.Heading("What the weights show")
    if inspection.untrained:
        yield doc.Paragraph(f"{inspection.untrained[0].upper()}{inspection.untrained[1:]}.")
    if statements:
        yield doc.Heading("What papers say about learned weights", 3)
        yield doc.Table(("sentence", "verdict", "measured here"), tuple(map(_sentence_row, statements)))
        yield doc.Paragraph(_NOISE)
        yield doc.Paragraph("How each sentence is measured and judged:")
        yield doc.List(tuple((doc.code(one.id), f": {one.measured}. True if: {one.judged}") for one in statements))


def _sentence_row(one: Statement) -> tuple[doc.Inline, ...]:
    place = f"“{one.sentence}” ({one.paper}, {one.place}) "
    return ((place, doc.code(one.id)), verdict_span(one.verdict), one.reason)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
