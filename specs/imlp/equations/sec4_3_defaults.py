"""Sec. 4.1 to 4.3: the block that the package builds where a reading of the text states nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.models.host import BuildRequest
from imlp_audit.models.imlp import Imlp
from imlp_audit.models.reading import (
    PRINTED,
    AGeLUParameters,
    ClassToken,
    ConcatNorm,
    DepthwiseActivation,
    DepthwiseNorm,
    Family,
    OutputNorm,
    Presence,
    Reading,
    axes_of,
    make_reading,
)

from ._block_cases import Block, block_cases
from ._block_formula import Filled, filled

# What the text says, each with its place: a default that differs is the package's own.
_SAID = Reading(
    agelu_parameters=AGeLUParameters.PER_CHANNEL,  # Eq. 6: alpha_{c'}
    fc1_bias=Presence.YES,  # Theorem 1: b^0
    fc2_bias=Presence.YES,  # Theorem 1: b^1
    concat_norm=ConcatNorm.NONE,  # Eq. 5 and Fig. 4 have nothing behind the concatenation
    output_norm=OutputNorm.NONE,  # Eq. 5 ends with the second layer
    depthwise_bias=Presence.NO,  # Sec. 4.3: "DW Conv with BN and GeLU"; the norm has the shift
    depthwise_norm=DepthwiseNorm.BATCH,
    depthwise_activation=DepthwiseActivation.GELU,
    depthwise_skip=Presence.NO,  # Sec. 4.3 names none
    class_token=ClassToken.KEPT,  # Sec. 5.1 replaces the MLP modules alone
)


@dataclass(frozen=True)
class Unstated(Block):
    """A block whose formula is what the text says, made with every axis at its default or under the printed reading."""

    by_default: bool

    @property
    def own_reading(self) -> Reading:
        """The package's reading."""
        defaults = make_reading(Family.IMLP, {name: axis.default for name, axis in axes_of(Family.IMLP).items()})
        assert isinstance(defaults, Reading)
        return defaults if self.by_default else PRINTED

    def make(self) -> Imlp:
        """Return the package's block under its own reading."""
        return Imlp(self.width, **{**self.arguments, "reading": self.own_reading})  # type: ignore[arg-type]


def _unstated(block: Block) -> st.Strategy[Unstated]:
    said = replace(block, reading=_SAID, norm_layer=None)
    return st.booleans().map(lambda by_default: Unstated(**vars(said), by_default=by_default))


@claim(filled(block_cases(None).flatmap(_unstated)), share=0.3)
def fig4_read_by_default(case: Filled, arithmetic: Arithmetic) -> Trial:
    """Where a reading states nothing, and under the reading that the package calls printed, the IMLP is that of the
    text: AGeLUs with coefficients for each channel, biases in both layers, no norm behind the concatenation or the
    second layer, and a depthwise convolution without a bias, then a batch norm and GeLU, without a skip.

    Read as: the class token is kept, because the MLP modules alone are replaced; it passes the depthwise block by. The
    convolution has no bias, because the batch norm behind it has a shift.

    Place: Sec. 4.3, "DW Block (DW Conv with BN and GeLU)", Eq. 5, Eq. 6, Theorem 1 and Sec. 5.1
    Corrected: IMLP(x) = GeLU(BN(DW(concat(AGeLU(x W^d + b^0), AGeLU'(x W^d + b^0))))) W^e + b^1
    Bound: the running error bound of the formula (rounded.py), with the slopes and errors of phi as functions.py
        derives them
    """
    # Hold the block under the package's reading against the formula of the text, and the class token against it.
    assert isinstance(case.block, Unstated)
    tokens = {case.block.own_reading.class_token, BuildRequest().class_token}
    if tokens != {_SAID.class_token}:
        return Trial(False, {"class token": sorted(tokens), "default": case.block.by_default})
    return case.trial(arithmetic)
