"""The IMLP block's closed formula with a row's numbers put in, added up to the number that was measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from imlp_audit.explain import block_formula
from imlp_audit.explain.block_formula import BlockForm
from imlp_audit.explain.body import Body
from imlp_audit.explain.layout import Lines, counted, table
from imlp_audit.explain.polynomial import Polynomial
from imlp_audit.explain.terms import Term, total
from imlp_audit.measure.conventions import Convention, ParameterConvention
from imlp_audit.models.reading import Reading
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.interval import readable

_SYMBOLS = ("C", "C'", "n", "N")


@dataclass(frozen=True)
class BlockSum:
    """A model as a sum of equal blocks and a rest.

    `terms` are the parts of a block's formula, `sizes` the numbers of blocks by what their `symbols` stand for, `rest`
    what the model has without them.
    """

    form: BlockForm
    terms: Sequence[Term]
    symbols: Sequence[str]
    sizes: Mapping[tuple[int, ...], int]
    rest: int

    @property
    def block(self) -> Polynomial:
        """The formula of one block."""
        return total(self.terms)

    def one(self, size: tuple[int, ...]) -> int:
        """Return what one block of a size has."""
        return self.block.at(dict(zip(self.symbols, size, strict=True)))

    @property
    def whole(self) -> int:
        """What the model has by the formula."""
        return sum(number * self.one(size) for size, number in self.sizes.items()) + self.rest


def block_sum(recipe: Recipe, reading: Reading, body: Body, counting: ParameterConvention | Convention) -> BlockSum:
    """Return a model's parameters, or with a convention of work its multiply-accumulates, as such a sum.

    The blocks of a model differ in nothing but their dimensions.
    """
    imlp = recipe.imlp
    if imlp is None:
        raise ValueError(f"{recipe.name} has no IMLP blocks")
    first = next(iter(body.blocks))
    form = BlockForm(imlp, reading, recipe.activation, first.biases, first.tokens - first.grid)
    sizes_it = isinstance(counting, ParameterConvention)
    terms = block_formula.parameters(form) if sizes_it else block_formula.multiply_accumulates(form)
    symbols = [symbol for symbol in _SYMBOLS if any(symbol in monomial for monomial in total(terms).terms)]
    sizes: Counter[tuple[int, ...]] = Counter()
    for block, number in body.blocks.items():
        values = dict(zip(_SYMBOLS, (block.channels, block.hidden, form.block.kernel, block.grid), strict=True))
        sizes[tuple(values[symbol] for symbol in symbols)] += number
    return BlockSum(form, terms, symbols, sizes, body.outside_blocks(counting))


def told(found: BlockSum, noun: str) -> Lines:
    """Write the formula part by part, and what it comes to for each size of block; the last line is the sum."""
    heading = f"The {noun} of one IMLP block: C channels, C' before FC2"
    heading += ", n x n kernel" if "n" in found.symbols else ""
    heading += f", N{f' + {found.form.prefix}' if found.form.prefix else ''} tokens" if "N" in found.symbols else ""
    parts = [*((term.part, str(term.formula)) for term in found.terms), ("one block", str(found.block))]
    return [heading, *table(parts, right=0), *table(list(_numbers(found)))]


def _numbers(found: BlockSum) -> Sequence[tuple[str, ...]]:
    blank = [""] * len(found.symbols)
    rows = [
        (counted(number, "block"), *map(readable, size), readable(found.one(size)), readable(number * found.one(size)))
        for size, number in found.sizes.items()
    ]
    return [
        ("", *found.symbols, "one block", "all of them"),
        *rows,
        ("the model without them", *blank, "", readable(found.rest)),
        ("sum", *blank, "", readable(found.whole)),
    ]
