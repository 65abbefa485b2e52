"""The cross-channel sublayer adds to Z an Aff of C times GELU of B times another Aff of Z.

Place: Sec. 2, Eq. 3
Printed: Y = Z + Aff(C GELU(B Aff(Z)))
Bound: gamma_{d+2} times the magnitudes under GELU, times its largest slope, then gamma_{4d+4} times those of the sum
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.resmlp._layer import FeedForwardCase, batch_of, feedforwards, matrix_of


def judge(case: FeedForwardCase, arithmetic: Arithmetic) -> Trial:
    """Hold the layer's sublayer against Eq. 3."""
    y = matrix_of(case.module(arithmetic).cross_channel(batch_of(case.z, arithmetic)))
    return equal(y, case.printed(arithmetic), **case.shown())


CLAIM = Claim(feedforwards(), judge)
