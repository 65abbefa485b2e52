"""The DW block is a depthwise convolution, then a batch norm, then GeLU.

Read as: in the order in which they are named, in evaluation, without a skip; what comes in is AGeLU(x).

Place: Sec. 4.3, after Eq. 10
Printed: we modify our AMLP module by introducing a DW Block (DW Conv with BN and GeLU) after AGeLU
Bound: that of Eq. 10 and its batch norm, times GeLU's largest slope, and GeLU's own error
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.imlp._dw_block import Normed, after_agelu, normed
from imlp_audit.models.reading import PRINTED


def judge(case: Normed, arithmetic: Arithmetic) -> Trial:
    """Hold the block against GeLU of the normed convolution."""
    block = case.block(PRINTED, arithmetic)
    printed = [[[gelu(y) for y in row] for row in grid] for grid in case.normed(arithmetic)]
    return equal(after_agelu(block, case.series, arithmetic), printed, **case.shown())


CLAIM = Claim(normed(), judge)
