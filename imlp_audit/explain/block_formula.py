"""The IMLP block's parameters and multiply-accumulates in closed form, under any reading, and a model as a sum of them.

C channels come in and leave, C' reach the second FC layer (Eq. 5: C'/2 leave the first layer if the channel part
doubles them). The depthwise kernel is n x n and moves over a grid of N tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from imlp_audit.count.conventions import Convention, ParameterConvention
from imlp_audit.explain.body import Body
from imlp_audit.explain.polynomial import Polynomial, Term, include_if, keep_present, symbol, total
from imlp_audit.models.blocks import Activation, ImlpRecipe, Part
from imlp_audit.models.reading import (
    AGeLUParameters,
    ConcatNorm,
    DepthwiseActivation,
    DepthwiseNorm,
    OutputNorm,
    Reading,
)
from imlp_audit.models.recipe import Recipe
from imlp_audit.records.explanation import BlockFormula, BlockSize, FormulaTerm, Noun

_SYMBOLS = ("C", "C'", "n", "N")
C, HIDDEN, KERNEL, GRID = map(symbol, _SYMBOLS)


@dataclass(frozen=True)
class BlockForm:
    """Everything that a block's formula depends on, except its dimensions.

    `biases` says whether its two FC layers have one, `prefix` how many tokens it sees in addition to the grid's.
    """

    block: ImlpRecipe
    reading: Reading
    activation: Activation | None = None
    biases: tuple[bool, bool] = (True, True)
    prefix: int = 0

    @property
    def first(self) -> Polynomial:
        """The channels that leave the first FC layer."""
        return HIDDEN if self.block.part is Part.SPATIAL else HIDDEN * Fraction(1, 2)

    @property
    def convolves(self) -> bool:
        """Whether it has the spatial part."""
        return self.block.part is not Part.CHANNEL

    def agelu(self, channels: Polynomial) -> Polynomial:
        """Return the parameters of one AGeLU: alpha, beta, gamma, theta, and those of its base activation."""
        each = channels if self.reading.agelu_parameters is AGeLUParameters.PER_CHANNEL else 1
        return 4 * Polynomial.of(each) + self.base

    @property
    def base(self) -> int:
        """The parameters of the base activation: PReLU has one."""
        return int(self.activation is Activation.PRELU)


def parameters(form: BlockForm) -> tuple[Term, ...]:
    """Return the parameters of each part of the block."""
    reading, h = form.reading, form.first
    return keep_present(
        Term("FC1", C * h + include_if(form.biases[0], h)),
        Term("two AGeLUs" if _has_coefficients(form) else "activation", _activation(form)),
        Term("norm after the concatenation", _concat_norm(form)),
        Term(
            "depthwise convolution",
            include_if(form.convolves, KERNEL * KERNEL * HIDDEN + include_if(reading.depthwise_bias, HIDDEN)),
        ),
        Term(
            "norm of the convolution",
            include_if(form.convolves and reading.depthwise_norm is DepthwiseNorm.BATCH, 2 * HIDDEN),
        ),
        Term("activation of the convolution", _depthwise_activation(form)),
        Term("FC2", HIDDEN * C + include_if(form.biases[1], C)),
        Term("output norm", include_if(reading.output_norm is OutputNorm.LAYER, 2 * C)),
    )


def multiply_accumulates(form: BlockForm) -> tuple[Term, ...]:
    """Return the multiply-accumulates of each part for one image; norms and activations have none."""
    tokens = GRID + form.prefix
    return keep_present(
        Term("FC1", tokens * C * form.first),
        Term("depthwise convolution", include_if(form.convolves, KERNEL * KERNEL * GRID * HIDDEN)),
        Term("FC2", tokens * HIDDEN * C),
    )


def _has_coefficients(form: BlockForm) -> bool:
    return form.block.part is not Part.SPATIAL and not form.block.plain


def _activation(form: BlockForm) -> Polynomial:
    """Return the parameters of the two AGeLUs of the channel part, or of the activations in their place."""
    if _has_coefficients(form):
        return 2 * form.agelu(form.first)
    return Polynomial.of(form.base if form.block.part is Part.SPATIAL else 2 * form.base)


def _concat_norm(form: BlockForm) -> Polynomial:
    normed = form.block.part is not Part.SPATIAL and form.reading.concat_norm is not ConcatNorm.NONE
    return include_if(normed, 2 * HIDDEN)


def _depthwise_activation(form: BlockForm) -> Polynomial:
    agelu = form.convolves and form.reading.depthwise_activation is DepthwiseActivation.AGELU
    return include_if(agelu, form.agelu(HIDDEN))


@dataclass(frozen=True)
class BlockSum:
    """A model as a sum of blocks and a rest.

    `terms` are the parts of a block's formula, `sizes` the number of blocks by the values of their `symbols`, `rest`
    the number of the model without them.
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
        """Return the number of one block of a size."""
        return self.block.at(dict(zip(self.symbols, size, strict=True)))

    @property
    def whole(self) -> int:
        """The number of the model by the formula."""
        return sum(number * self.one(size) for size, number in self.sizes.items()) + self.rest


def block_sum(recipe: Recipe, reading: Reading, body: Body, counting: ParameterConvention | Convention) -> BlockSum:
    """Return a model's parameters, or with a convention of work its multiply-accumulates, as such a sum.

    The blocks of a model differ only in their dimensions.
    """
    block = recipe.imlp
    if block is None:
        raise ValueError(f"{recipe.name} has no IMLP blocks")
    first = next(iter(body.blocks))
    form = BlockForm(block, reading, recipe.activation, first.biases, first.tokens - first.grid)
    terms = parameters(form) if isinstance(counting, ParameterConvention) else multiply_accumulates(form)
    symbols = [name for name in _SYMBOLS if any(name in monomial for monomial in total(terms).terms)]
    sizes: Counter[tuple[int, ...]] = Counter()
    for one, number in body.blocks.items():
        values = dict(zip(_SYMBOLS, (one.channels, one.hidden, block.kernel, one.grid), strict=True))
        sizes[tuple(values[name] for name in symbols)] += number
    return BlockSum(form, terms, symbols, sizes, body.outside_blocks(counting))


def block_formula(found: BlockSum, noun: Noun, measured: int) -> BlockFormula:
    """Return the formula part by part, the sum over all blocks, and the measured number."""
    return BlockFormula(
        noun=noun,
        symbols=tuple(found.symbols),
        extra_tokens=found.form.prefix,
        terms=tuple(FormulaTerm(part=term.part, formula=str(term.formula)) for term in found.terms),
        block=str(found.block),
        sizes=tuple(BlockSize(blocks=number, values=size, one=found.one(size)) for size, number in found.sizes.items()),
        rest=found.rest,
        total=found.whole,
        measured=measured,
    )
