"""What `inspect` found, as a document: the file, the models that it fits, and what its weights show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from math import prod
from pathlib import Path

from imlp_audit.checkpoint.refusal import escape_name
from imlp_audit.inspect.sentences import format_number
from imlp_audit.records.checkpoint import CheckpointReport, FittingModel, Misfit
from imlp_audit.records.document import from_json
from imlp_audit.records.inspection import (
    AgeluCoefficients,
    AmlpModule,
    CrossPatchLayer,
    GateMatrix,
    Inspection,
    Quantiles,
    Statement,
)
from imlp_audit.report.document import (
    Block,
    Document,
    Heading,
    Inline,
    Item,
    List,
    Paragraph,
    Picture,
    Table,
    code,
    join,
    number_columns,
    parse_code,
    strong,
)
from imlp_audit.report.verdicts import verdict_span

_MOST_SHOWN = 3  # names and details of each group of misfits

_AGELU = (
    "IMLP replaces a GeLU by two AGeLUs, beta GeLU(alpha x + gamma) + theta, whose coefficients are learned. Each "
    "column has the median and, in brackets, the range that holds nine units in ten."
)
_BLOCKS = (
    "A module's Lipschitz constant is how much it can stretch a change of its input. It is at most the product of the "
    "norms of the module's weights, and at least the gradient at 0. `imlp-audit lipschitz` proves a tighter upper "
    "bound. The module is two FC layers and the AGeLUs between them, without a norm or a depthwise block."
)
_CROSS_PATCH = (
    "In a layer of ResMLP, patches exchange information through one matrix A; then an MLP of matrices B and C is "
    "applied to each patch. MLP-Mixer has an MLP of W1 and W2 across patches, and W3 and W4 in place of B and C. The "
    "columns say where weights are on the grid of patches, measured as the sentences define it: local, shifted "
    "(versions of one filter), axes, spike (at the patch itself), reach (mean distance) and far (the largest distant "
    "weight)."
)
_NOISE = (
    "A sentence is reproduced only if it is true of these weights and of no noise of their shapes: 19 times the same "
    "numbers in random places or, where only their sizes matter, 19 times normal and 19 times uniform numbers. Such "
    "noise passes that in at most one case of 20."
)
_GATES = (
    "A spatial gating unit (gMLP) mixes tokens by one matrix W. A Toeplitz matrix has one number along each diagonal: "
    "it depends on how far apart tokens are, not on where they are."
)


def checkpoint_document(report: CheckpointReport, shown_as: str) -> Document:
    """Return the whole answer of `inspect` about a file."""
    weights = () if report.weights == Inspection() else inspection_document(report.weights, report.pictures)
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
    facts += _describe_axes(model)
    return Item(
        (strong(model.label), "  ", code(f"{{{model.model}}}")),
        (*facts, *model.notes, *map(_describe_misfit, model.problems)),
    )


def _describe_axes(model: FittingModel) -> Iterator[str]:
    """Yield which readings of an IMLP block the shapes allow."""
    if model.axes is None:
        return
    if not model.readings:
        decided = ", ".join(f"{axis} {values[0]}" for axis, values in model.axes.items() if len(values) == 1)
        yield f"under a reading that no paper declares: {decided}"
    undecided = {axis: values for axis, values in model.axes.items() if len(values) > 1}
    if undecided:
        either = " and ".join(f"{axis} ({' or '.join(values)})" for axis, values in undecided.items())
        yield f"shapes do not decide {either}: {prod(map(len, model.axes.values()))} readings fit"


def _describe_misfit(misfit: Misfit) -> str:
    details = f": {_join_first(misfit.details)}" if misfit.details else ""
    tensors = f"{_count(len(misfit.tensors), 'tensor')}: {_join_first([*map(escape_name, misfit.tensors)])}"
    return f"{misfit.kind}: {misfit.reason}{details} ({tensors})"


def _join_first(texts: Sequence[str]) -> str:
    return ", ".join([*texts[:_MOST_SHOWN], *(["..."] if len(texts) > _MOST_SHOWN else [])])


def inspection_document(inspection: Inspection, pictures: Mapping[str, str]) -> Document:
    """Return what the weights show as a section; `pictures` are captions by file."""
    return (
        Heading("What the weights show"),
        *([Paragraph(f"{inspection.untrained[0].upper()}{inspection.untrained[1:]}.")] if inspection.untrained else []),
        *_describe_sentences(inspection.statements),
        *_describe_parts(inspection),
        *(Picture(file, caption) for file, caption in pictures.items()),
        *([List(tuple(Item(note, label="note") for note in inspection.left_out))] if inspection.left_out else []),
    )


def _describe_sentences(statements: Sequence[Statement]) -> Iterator[Block]:
    if not statements:
        return
    yield Heading("What papers say about learned weights", 3)
    yield Table(("sentence", "verdict", "measured here"), tuple(map(_sentence_row, statements)))
    yield Paragraph(_NOISE)
    yield Paragraph("How each sentence is measured and judged:")
    yield List(tuple((code(one.id), f": {one.measured}. True if: {one.judged}") for one in statements))


def _sentence_row(one: Statement) -> tuple[Inline, ...]:
    place = f"“{one.sentence}” ({one.paper}, {one.place}) "
    return ((place, code(one.id)), verdict_span(one.verdict), one.reason)


def _describe_parts(inspection: Inspection) -> Iterator[Block]:
    """Yield a section for each kind of parts."""
    header: tuple[str, ...]
    if inspection.agelus:
        header = (
            "place",
            "units",
            "alpha",
            "beta",
            "gamma",
            "theta",
            "alpha < 0",
            "beta < 0",
            "alpha beta = 0",
            "slopes",
        )
        yield from _section("AGeLUs", _AGELU, header, map(_agelu_row, inspection.agelus))
    if inspection.blocks:
        header = ("module", "C", "units", "units whose AGeLUs differ", "Lipschitz constant at least", "at most")
        yield from _section("How steep the modules are", _BLOCKS, header, map(_module_row, inspection.blocks))
    if inspection.cross_patch:
        letters = tuple(one.matrix for one in inspection.cross_patch[0].sparsity)
        rates = (f"{letter} below 5 %" for letter in letters)
        header = ("layer", *rates, "local", "shifted", "axes", "spike", "reach", "far")
        rows = (_layer_row(layer, letters) for layer in inspection.cross_patch)
        yield from _section("How patches are mixed", _CROSS_PATCH, header, rows)
    if inspection.gates:
        header = ("layer", "tokens", "Toeplitz", "by chance", "Toeplitz on the grid", "by chance")
        yield from _section("Spatial gating units", _GATES, header, map(_gate_row, inspection.gates))


def _section(title: str, text: str, header: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Iterator[Block]:
    yield Heading(title, 3)
    yield Paragraph(parse_code(text))
    yield Table(header, tuple((code(name), *cells) for name, *cells in rows), number_columns(header))


def _agelu_row(one: AgeluCoefficients) -> tuple[str, ...]:
    spread = (_format_spread(values) for values in (one.alpha, one.beta, one.gamma, one.theta))
    counts = (str(one.mirrored), str(one.reflected), str(one.flat))
    return (one.name, str(one.units), *spread, *counts, f"{one.slopes[0]:.3g} to {one.slopes[1]:.3g}")


def _format_spread(values: Quantiles) -> str:
    return f"{values.median:.3g} [{values.q05:.3g}, {values.q95:.3g}]"


def _module_row(block: AmlpModule) -> tuple[str, ...]:
    different = f"{block.different / block.hidden:.0%}"
    bounds = (_round_bound(block.gradient, ROUND_FLOOR), _round_bound(block.norms, ROUND_CEILING))
    return (block.name, str(block.width), str(block.hidden), different, *bounds)


def _round_bound(bound: float, direction: str) -> str:
    """Round a bound so that the rounded number is a bound, too."""
    return f"{float(Context(prec=3, rounding=direction).create_decimal(bound)):.3g}"


def _layer_row(layer: CrossPatchLayer, letters: Sequence[str]) -> tuple[str, ...]:
    rates = {one.matrix: f"{one.rate:.1%}" for one in layer.sparsity}
    one = layer.pattern
    values = (None,) * 6 if one is None else (one.local, one.shifted, one.axes, one.spiked, one.reach, one.far)
    return (layer.name, *(rates.get(letter, "") for letter in letters), *map(format_number, values))


def _gate_row(gate: GateMatrix) -> tuple[str, ...]:
    on_grid = gate.blocks_by_chance is not None
    grid = (format_number(gate.blocks), format_number(gate.blocks_by_chance)) if on_grid else ("", "")
    return (gate.name, str(gate.tokens), format_number(gate.toeplitz), format_number(gate.toeplitz_by_chance), *grid)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


@dataclass(frozen=True)
class Inspected:
    """What was found in a checkpoint's weights, its SHA-256, the papers whose rows it fits, and captions by picture."""

    sha256: str
    papers: frozenset[str]
    weights: Inspection
    pictures: dict[str, str]

    def section(self, paper: str, folder: Path | None = None) -> Document:
        """Return the section of a paper's report; empty if the checkpoint fits no row of it.

        It shows the pictures that lie in the folder of the report.
        """
        if paper not in self.papers:
            return ()
        there = {file: caption for file, caption in self.pictures.items() if folder and (folder / file).is_file()}
        heading, *rest = inspection_document(self.weights, there)
        source = f"Weights of the checkpoint with SHA-256 `{self.sha256}`, from `imlp-audit inspect`."
        return (heading, Paragraph(parse_code(source)), *rest)

    def lacking(self, folder: Path) -> list[str]:
        """Return the pictures that were drawn and do not lie in the folder."""
        return [file for file in self.pictures if not (folder / file).is_file()]


def read_inspected(path: Path, text: str) -> Inspected:
    """Read a JSON result of `inspect`. Raises UsageError for a broken one."""
    report = from_json(CheckpointReport, text, str(path))
    return Inspected(
        sha256=report.file.sha256,
        papers=frozenset(place.partition("/")[0] for one in report.exact or report.nearest for place in one.places),
        weights=report.weights,
        pictures={Path(file).name: caption for file, caption in report.pictures.items()},
    )
