"""Closed formulas with the numbers of a row put in, down to the number that was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from imlp_audit.explain import block_formula, text_formula
from imlp_audit.explain.block_formula import BlockForm
from imlp_audit.explain.body import Block, Body
from imlp_audit.explain.layout import Lines, counted, table
from imlp_audit.explain.terms import Term, total
from imlp_audit.explain.text_formula import TextForm
from imlp_audit.interval import readable
from imlp_audit.measure.conventions import FLOPS_CONVENTIONS, ParameterConvention
from imlp_audit.models.reading import AnyReading, Reading, TextReading
from imlp_audit.models.recipe import Recipe

MACS = FLOPS_CONVENTIONS["macs"]
_HEADS = ("output layer", "classifier head")


def formula(recipe: Recipe, reading: AnyReading | None, body: Body, counting: ParameterConvention | None) -> Lines:
    """Return the formula of a model's parameters, or with no parameter convention of its multiply-accumulates.

    Nothing for a model about whose parts nothing is open, or in a way to count that has no formula.
    """
    if counting is ParameterConvention.WITH_BUFFERS:
        return []
    if isinstance(reading, Reading):
        return _of_blocks(recipe, reading, body, counting)
    if isinstance(reading, TextReading):
        return _of_text(recipe, reading, body, counting)
    return []


def form_of(recipe: Recipe, reading: Reading, blocks: Mapping[Block, int]) -> BlockForm:
    """Return what the formula of a recipe's blocks depends on; they differ in nothing but their dimensions."""
    assert recipe.mlp is not None
    assert recipe.mlp.imlp is not None
    one = next(iter(blocks))
    return BlockForm(recipe.mlp.imlp, reading, recipe.activation, one.biases, one.tokens - one.grid)


def values_of(block: Block, kernel: int) -> Mapping[str, int]:
    """Return the numbers that a block puts in its formula."""
    return {"C": block.channels, "C'": block.hidden, "n": kernel, "N": block.grid}


def _of_blocks(recipe: Recipe, reading: Reading, body: Body, counting: ParameterConvention | None) -> Lines:
    form = form_of(recipe, reading, body.blocks)
    noun = "parameters" if counting else "multiply-accumulates"
    terms = block_formula.parameters(form) if counting else block_formula.multiply_accumulates(form)
    heading = f"The {noun} of one IMLP block: C channels, C' before FC2"
    heading += ", n x n kernel" if form.convolves else ""
    heading += "" if counting else f", N{f' + {form.prefix}' if form.prefix else ''} tokens"
    rows = [*((term.part, str(term.formula)) for term in terms), ("one block", str(total(terms)))]
    return [heading, *table(rows, right=0), *_sum(form, terms, body, counting)]


def _sum(form: BlockForm, terms: Sequence[Term], body: Body, counting: ParameterConvention | None) -> Lines:
    """Put in the numbers of every size of block, and add what the host has without them."""
    one, kernel = total(terms), form.block.kernel
    symbols = [s for s in ("C", "C'", "n", "N") if any(s in monomial for monomial in one.terms)]
    sizes: dict[tuple[int, ...], int] = {}
    for block, number in body.blocks.items():
        place = tuple(values_of(block, kernel)[s] for s in symbols)
        sizes[place] = sizes.get(place, 0) + number
    rows = []
    whole = 0
    for place, number in sizes.items():
        each = one.at(dict(zip(symbols, place, strict=True)))
        whole += number * each
        rows.append((counted(number, "block"), *map(readable, place), readable(each), readable(number * each)))
    rest = body.outside_blocks(counting or MACS)
    blank = [""] * len(symbols)
    rows = [
        ("", *symbols, "one block", "all of them"),
        *rows,
        ("the model without them", *blank, "", readable(rest)),
        ("sum", *blank, "", readable(whole + rest)),
    ]
    lines = table(rows)
    lines[-1] += f"  {_agreement(whole + rest, body, counting)}"
    return lines


def _of_text(recipe: Recipe, reading: TextReading, body: Body, counting: ParameterConvention | None) -> Lines:
    form = text_formula.parameters(recipe, reading) if counting else text_formula.multiply_accumulates(recipe, reading)
    around = [term for term in form.around if counting is not ParameterConvention.NO_HEAD or term.part not in _HEADS]
    layers = form.values["L"]
    one = total(form.layer)
    rows = [
        *_rows(form, around),
        *_rows(form, form.layer, "  "),
        ("one layer", str(one), readable(one.at(form.values))),
        (f"{counted(layers, 'layer')}", f"L ({one})", readable(layers * one.at(form.values))),
    ]
    whole = layers * one.at(form.values) + total(around).at(form.values)
    noun = "parameters" if counting else "multiply-accumulates"
    lines = table([*rows, ("sum", "", readable(whole))], left=2)
    lines[-1] += f"  {_agreement(whole, body, counting)}"
    numbers = ", ".join(f"{name} = {readable(number)}" for name, number in form.values.items())
    return [f"The {noun} in closed form, with {numbers}", *lines]


def _rows(form: TextForm, terms: Sequence[Term], indent: str = "") -> list[tuple[str, str, str]]:
    return [(indent + t.part, str(t.formula), readable(t.formula.at(form.values))) for t in terms]


def _agreement(value: int, body: Body, counting: ParameterConvention | None) -> str:
    """Say how a sum compares with what was measured."""
    measured = sum(item.amount for item in body.items(counting or MACS))
    return "as measured" if value == measured else f"but {readable(measured)} is measured"
