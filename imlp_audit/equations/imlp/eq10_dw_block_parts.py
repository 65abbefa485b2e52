"""Batch norm, GeLU and skip of a DW block each change what it computes: without all of them it is Eq. 10, and with any
of them left in it is not, for the numbers tried.

On a grid of one position, with x of 1 or 2, a weight of 1, -1 or 1/2 and a bias of 0 or 1. (Other numbers can let a
skip and a GeLU cancel at one position.) The batch norm is as it starts: it still divides by the root of 1 + 10^-5.

Place: Sec. 4.3, the sentences after Eq. 10
Corrected: DWBlock(AGeLU(x)) = a phi(x + b) exactly where the block has no norm, no activation and no skip
Bound: gamma_1 times the product, and that of phi; in every case drawn a part changes more than that
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.imlp._dw_block import after_agelu, block_of, everywhere
from imlp_audit.equations.imlp._series import GELU, Series
from imlp_audit.models.reading import PRINTED, DepthwiseActivation, DepthwiseNorm, Presence

_PARTS = tuple(
    product((DepthwiseNorm.NONE, DepthwiseNorm.BATCH), (DepthwiseActivation.NONE, DepthwiseActivation.GELU), Presence)
)


@dataclass(frozen=True)
class OnePosition:
    """A norm, an activation and a skip, or none of these; and the numbers x, a, b."""

    norm: DepthwiseNorm
    activation: DepthwiseActivation
    skip: Presence
    x: float
    a: float
    b: float


def judge(case: OnePosition, arithmetic: Arithmetic) -> Trial:
    """Hold whether the block is Eq. 10 against whether it has none of the parts."""
    reading = replace(PRINTED, depthwise_norm=case.norm, depthwise_activation=case.activation, depthwise_skip=case.skip)
    one = Series(0, GELU, (case.b,), (((case.x,),),), (((case.a,),),))
    block = block_of(one, reading, arithmetic)
    is_eq10 = equal(after_agelu(block, one, arithmetic), everywhere(one, arithmetic)).holds
    bare = (case.norm, case.activation, case.skip) == (DepthwiseNorm.NONE, DepthwiseActivation.NONE, Presence.NO)
    return Trial(is_eq10 == bare, {**vars(case), "is Eq. 10": is_eq10})


def _cases() -> st.SearchStrategy[OnePosition]:
    x, a, b = st.sampled_from((1.0, 2.0)), st.sampled_from((1.0, -1.0, 0.5)), st.sampled_from((0.0, 1.0))
    return st.sampled_from(_PARTS).flatmap(lambda parts: st.builds(OnePosition, *map(st.just, parts), x, a, b))


CLAIM = Claim(_cases(), judge)
