"""The IMLP block's parameters and multiply-accumulates in closed form, under any reading.

C channels come in and leave, C' reach the second FC layer (Eq. 5: C'/2 leave the first where the channel part
doubles them), the depthwise kernel is n x n and moves over a grid of N tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from imlp_audit.explain.polynomial import Polynomial, symbol
from imlp_audit.explain.terms import Term, present, where
from imlp_audit.models.reading import (
    AGeLUParameters,
    ConcatNorm,
    DepthwiseActivation,
    DepthwiseNorm,
    OutputNorm,
    Reading,
)
from imlp_audit.models.recipe import Activation, Imlp, Part

C, HIDDEN, KERNEL, GRID = (symbol(name) for name in ("C", "C'", "n", "N"))


@dataclass(frozen=True)
class BlockForm:
    """All that a block's formula depends on beside its dimensions.

    `biases` says whether its two FC layers have one, `prefix` how many tokens there are beside those of the grid.
    """

    block: Imlp
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
        """Return the size of one AGeLU: alpha, beta, gamma and theta, and what its base activation has."""
        each = channels if self.reading.agelu_parameters is AGeLUParameters.PER_CHANNEL else 1
        return 4 * Polynomial.of(each) + self.base

    @property
    def base(self) -> int:
        """The parameters of the base activation: PReLU has one."""
        return int(self.activation is Activation.PRELU)


def parameters(form: BlockForm) -> tuple[Term, ...]:
    """Return what each part of the block has."""
    reading, h = form.reading, form.first
    return present(
        Term("FC1", C * h + where(form.biases[0], h)),
        Term("two AGeLUs" if _has_coefficients(form) else "activation", _activation(form)),
        Term("norm after the concatenation", _concat_norm(form)),
        Term(
            "depthwise convolution",
            where(form.convolves, KERNEL * KERNEL * HIDDEN + where(reading.depthwise_bias, HIDDEN)),
        ),
        Term(
            "norm of the convolution",
            where(form.convolves and reading.depthwise_norm is DepthwiseNorm.BATCH, 2 * HIDDEN),
        ),
        Term("activation of the convolution", _depthwise_activation(form)),
        Term("FC2", HIDDEN * C + where(form.biases[1], C)),
        Term("output norm", where(reading.output_norm is OutputNorm.LAYER, 2 * C)),
    )


def multiply_accumulates(form: BlockForm) -> tuple[Term, ...]:
    """Return what each part of the block does to one image; norms and activations multiply no matrices."""
    tokens = GRID + form.prefix
    return present(
        Term("FC1", tokens * C * form.first),
        Term("depthwise convolution", where(form.convolves, KERNEL * KERNEL * GRID * HIDDEN)),
        Term("FC2", tokens * HIDDEN * C),
    )


def _has_coefficients(form: BlockForm) -> bool:
    return form.block.part is not Part.SPATIAL and not form.block.plain


def _activation(form: BlockForm) -> Polynomial:
    """Return the two AGeLUs of the channel part, or the activations in their place."""
    if _has_coefficients(form):
        return 2 * form.agelu(form.first)
    return Polynomial.of(form.base if form.block.part is Part.SPATIAL else 2 * form.base)


def _concat_norm(form: BlockForm) -> Polynomial:
    normed = form.block.part is not Part.SPATIAL and form.reading.concat_norm is not ConcatNorm.NONE
    return where(normed, 2 * HIDDEN)


def _depthwise_activation(form: BlockForm) -> Polynomial:
    agelu = form.convolves and form.reading.depthwise_activation is DepthwiseActivation.AGELU
    return where(agelu, form.agelu(HIDDEN))
