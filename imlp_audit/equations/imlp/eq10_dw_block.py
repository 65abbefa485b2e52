"""The DW block after AGeLU is Eq. 10 but for its batch norm and its GeLU: without them, and with alpha = beta = 1 and
theta = 0 in AGeLU, it is.

AGeLU's gamma is the bias b, phi is GeLU, the convolution has no bias, no skip leads around it, and terms beyond the
grid are left out.

Place: Sec. 4.3, the sentences after Eq. 10
Corrected: DWConv(AGeLU(x))_{h,w,c} = sum_{i=-n}^{n} sum_{j=-n}^{n} a_{i,j,c} phi(x_{h+i,w+j,c} + b_c)
Bound: one rounding and that of phi a term, then gamma_k times the sum of the magnitudes, k terms of the window
"""

from __future__ import annotations

from dataclasses import replace

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.imlp._dw_block import after_agelu, block_of, everywhere
from imlp_audit.equations.imlp._series import GELU, Series, series
from imlp_audit.models.reading import PRINTED, DepthwiseActivation, DepthwiseNorm

_CONVOLUTION = replace(PRINTED, depthwise_norm=DepthwiseNorm.NONE, depthwise_activation=DepthwiseActivation.NONE)


def judge(case: Series, arithmetic: Arithmetic) -> Trial:
    """Hold what is left of the block against Eq. 10, everywhere."""
    block = block_of(case, _CONVOLUTION, arithmetic)
    return equal(after_agelu(block, case, arithmetic), everywhere(case, arithmetic), **case.shown())


CLAIM = Claim(series(lambda n: 1, phis=(GELU,)), judge)
