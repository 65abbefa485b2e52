"""What was found in weights, in words: for a terminal, and as a section of a report."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from textwrap import wrap

from imlp_audit.inspect.statements import number
from imlp_audit.records.inspection import (
    AgeluCoefficients,
    AmlpModule,
    CrossPatchLayer,
    GateMatrix,
    Inspection,
    Quantiles,
    Statement,
)

_WIDTH = 110

_AGELU = (
    "IMLP puts two AGeLUs, beta GeLU(alpha x + gamma) + theta, in the place of one GeLU; their coefficients are "
    "learned. Of each is told the median and, in brackets, what nine units in ten lie between."
)
_BLOCKS = (
    "How much a module can stretch a change of its input is its Lipschitz constant. It is at most the product of the "
    "norms of its weights and at least the gradient at 0; `imlp-audit lipschitz` proves a lower bound from above. The "
    "module is two FC layers and the AGeLUs between: a norm or a depthwise block is not counted."
)
_CROSS_PATCH = (
    "A layer of ResMLP lets patches exchange information by one matrix A, and then treats each patch by an MLP of "
    "matrices B and C; MLP-Mixer has an MLP of W1 and W2 across patches, and W3 and W4 for B and C. Where weights lie "
    "on the grid of patches is measured as the sentences below define it: local, shifted (versions of one filter), "
    "axes, spike (at the patch itself), reach (mean distance) and far (the largest one far away)."
)
_GATES = (
    "A spatial gating unit (gMLP) mixes tokens by one matrix W. A Toeplitz matrix has one number along each diagonal: "
    "what it does depends on how far tokens are apart, not on where they are."
)


@dataclass(frozen=True)
class Section:
    """A heading, sentences, and a table below them."""

    title: str
    told: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def as_text(inspection: Inspection) -> str:
    """Write what was found for a terminal; empty where there is nothing."""
    lines: list[str] = []
    for section in sections(inspection):
        lines += [section.title, *wrap(section.told, _WIDTH, initial_indent="  ", subsequent_indent="  ")]
        lines += [*_aligned((section.header, *section.rows)), ""]
    for statement in inspection.statements:
        lines += [*_in_lines(statement), ""]
    lines += [f"note: {note}" for note in inspection.left_out]
    return "\n".join(lines).rstrip() + "\n" if lines else ""


def as_markdown(inspection: Inspection, figures: Mapping[str, str]) -> Iterator[str]:
    """Yield what was found as a section of a report; `figures` are the captions of pictures by their files."""
    yield from ("", "## What the weights show", "")
    if inspection.statements:
        yield from ("### What papers say about learned weights, held against these", "")
        yield from _table(("sentence", "verdict", "what was found"), map(_judged, inspection.statements))
        yield from ("", "How each is measured and judged:", "")
        yield from (f"- `{s.id}`: {escaped(s.measured)}. True if: {escaped(s.judged)}" for s in inspection.statements)
        yield ""
    for section in sections(inspection):
        yield from (f"### {section.title}", "", escaped(section.told), "")
        rows = ((f"`{row[0].replace('|', chr(92) + '|')}`", *map(escaped, row[1:])) for row in section.rows)
        yield from (*_table(section.header, rows), "")
    for file, caption in figures.items():
        yield from (f"![{escaped(caption)}]({file})", "", escaped(caption), "")
    yield from (f"- note: {escaped(note)}" for note in inspection.left_out)


def sections(inspection: Inspection) -> Iterator[Section]:
    """Yield a section for each kind of weights."""
    if inspection.agelus:
        names = (
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
        yield Section("AGeLUs", _AGELU, names, tuple(map(_coefficients, inspection.agelus)))
    if inspection.blocks:
        bounds = ("Lipschitz constant at least", "at most")
        told = ("module", "C", "units", "units whose AGeLUs differ", *bounds)
        yield Section("How steep the modules are", _BLOCKS, told, tuple(map(_block, inspection.blocks)))
    if inspection.cross_patch:
        yield _mixing(inspection.cross_patch)
    if inspection.gates:
        shares = ("Toeplitz", "by chance", "Toeplitz on the grid", "by chance")
        yield Section("Spatial gating units", _GATES, ("layer", "tokens", *shares), tuple(map(_gate, inspection.gates)))


def _mixing(layers: Sequence[CrossPatchLayer]) -> Section:
    letters = tuple(one.matrix for one in layers[0].sparsity)
    rates = (f"{letter} below 5 %" for letter in letters)
    header = ("layer", *rates, "local", "shifted", "axes", "spike", "reach", "far")
    return Section("What mixes patches", _CROSS_PATCH, header, tuple(_cross_patch(one, letters) for one in layers))


def escaped(text: str) -> str:
    """Escape what a text could break a paragraph or a table of markdown with."""
    for character in "\\`*_|[]#~":
        text = text.replace(character, "\\" + character)
    return " ".join(html.escape(text, quote=False).split())


def _coefficients(one: AgeluCoefficients) -> tuple[str, ...]:
    spread = (_spread(values) for values in (one.alpha, one.beta, one.gamma, one.theta))
    counts = (str(one.mirrored), str(one.reflected), str(one.flat))
    return (one.name, str(one.units), *spread, *counts, _between(one.slopes))


def _spread(values: Quantiles) -> str:
    return f"{values.median:.3g} [{values.q05:.3g}, {values.q95:.3g}]"


def _between(slopes: tuple[float, float]) -> str:
    return f"{slopes[0]:.3g} to {slopes[1]:.3g}"


def _block(block: AmlpModule) -> tuple[str, ...]:
    different = f"{block.different / block.hidden:.0%}"
    bounds = (_rounded(block.gradient, ROUND_FLOOR), _rounded(block.norms, ROUND_CEILING))
    return (block.name, str(block.width), str(block.hidden), different, *bounds)


def _rounded(bound: float, direction: str) -> str:
    """Write a bound so that what is written is one, too."""
    return f"{float(Context(prec=3, rounding=direction).create_decimal(bound)):.3g}"


def _cross_patch(layer: CrossPatchLayer, letters: Sequence[str]) -> tuple[str, ...]:
    rates = {one.matrix: f"{one.rate:.1%}" for one in layer.sparsity}
    one = layer.pattern
    found = (None,) * 6 if one is None else (one.local, one.shifted, one.axes, one.spiked, one.reach, one.far)
    return (layer.name, *(rates.get(letter, "") for letter in letters), *map(number, found))


def _gate(gate: GateMatrix) -> tuple[str, ...]:
    grid = ("", "") if gate.blocks_by_chance is None else (number(gate.blocks), number(gate.blocks_by_chance))
    return (gate.name, str(gate.tokens), number(gate.toeplitz), number(gate.toeplitz_by_chance), *grid)


def _in_lines(statement: Statement) -> Iterator[str]:
    """Yield a statement, its verdict and how that comes about."""
    yield f"{statement.id}: {statement.verdict}  ({statement.paper}, {statement.place})"
    yield from wrap(f"“{statement.sentence}”", _WIDTH, initial_indent="  ", subsequent_indent="  ")
    told = {"found": statement.reason, "measured": statement.measured, "true if": statement.judged}
    for name, text in told.items():
        yield from wrap(f"{name:9} {text}", _WIDTH, initial_indent="  ", subsequent_indent=" " * 12)


def _judged(statement: Statement) -> tuple[str, ...]:
    sentence = (
        f"“{escaped(statement.sentence)}” ({escaped(statement.paper)}, {escaped(statement.place)}) `{statement.id}`"
    )
    return (sentence, statement.verdict.value, escaped(statement.reason))


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|{' --- |' * len(header)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield rows as columns of equal width."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  " + "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
