"""The DW block (DW Conv with BN and GeLU) after AGeLU is Eq. 10 with phi = GeLU.

Read as: the block computes the equation that the section derives it from, with the weights a in its convolution. AGeLU
has alpha = beta = 1, gamma = b and theta = 0, which makes it phi(x + b); the batch norm is as it starts, and terms
beyond the grid are left out.

Place: Sec. 4.3, the sentences after Eq. 10
Printed: this is equal to going through the non-linear function followed by a depthwise convolution. Thus, we modify
    our AMLP module by introducing a DW Block (DW Conv with BN and GeLU) after AGeLU
Nearest: eq10_dw_block_corrected
Bound: one rounding and that of phi a term, then gamma_k times the sum of the magnitudes, k terms of the window
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.imlp._dw_block import after_agelu, block_of, everywhere
from imlp_audit.equations.imlp._series import GELU, Series, series
from imlp_audit.models.reading import PRINTED


def judge(case: Series, arithmetic: Arithmetic) -> Trial:
    """Hold the printed block against Eq. 10, everywhere."""
    block = block_of(case, PRINTED, arithmetic)
    return equal(after_agelu(block, case, arithmetic), everywhere(case, arithmetic), **case.shown())


CLAIM = Claim(series(lambda n: 1, phis=(GELU,), largest=1), judge)
