"""A DW block with its batch norm, without its GeLU, is Eq. 10 with other weights, plus a constant for each channel.

In evaluation, with mean m, variance v, scale g and shift s of the batch norm: the weights are a g / sqrt(v + eps). The
constant is all that the batch norm adds to what Eq. 10 can be; it is the GeLU at the end that leads out of it.

Place: Sec. 4.3, the sentences after Eq. 10
Corrected: BN(DWConv(AGeLU(x)))_{h,w,c} = r_c sum_{i=-n}^{n} sum_{j=-n}^{n} a_{i,j,c} phi(x_{h+i,w+j,c} + b_c)
    + (s_c - m_c r_c), r_c = g_c / sqrt(v_c + eps)
Bound: that of Eq. 10, 4 u for the reciprocal root, and one rounding for each product and sum
"""

from __future__ import annotations

from dataclasses import replace

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.imlp._dw_block import Normed, after_agelu, normed
from imlp_audit.models.reading import PRINTED, DepthwiseActivation

_WITHOUT_GELU = replace(PRINTED, depthwise_activation=DepthwiseActivation.NONE)


def judge(case: Normed, arithmetic: Arithmetic) -> Trial:
    """Hold the block without its GeLU against Eq. 10 with other weights, and a constant."""
    block = case.block(_WITHOUT_GELU, arithmetic)
    return equal(after_agelu(block, case.series, arithmetic), case.normed(arithmetic), **case.shown())


CLAIM = Claim(normed(), judge)
