"""Algorithm 1's cross-channel sublayer computes Eq. 3: with Eq. 3's B, C, first Aff and alpha after C, no bias of B,
and beta / alpha as the bias of C.

Place: Appendix C, and Sec. 2, Eq. 3
Printed: In Algorithm 1 we provide the pseudo-pytorch-code associated with our model (of Eq. 3: Y = Z +
    Aff(C GELU(B Aff(Z))); Algorithm 1: Y = Z + Diag(alpha) (C GELU(B Aff(Z) + b) + c))
Bound: gamma_{d+2} times the magnitudes under GELU, times its largest slope, then gamma_{4d+4} times those of the sum
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.resmlp._algorithm1 import divisible_affs, feedforward_of_algorithm1
from imlp_audit.equations.resmlp._layer import FeedForwardCase, batch_of, feedforwards, matrix_of


def judge(case: FeedForwardCase, arithmetic: Arithmetic) -> Trial:
    """Hold Algorithm 1's sublayer against Eq. 3."""
    bias = tuple(beta / alpha for alpha, beta in zip(case.after.alpha, case.after.beta, strict=True))
    y = feedforward_of_algorithm1(case, bias, arithmetic).cross_channel(batch_of(case.z, arithmetic))
    return equal(matrix_of(y), case.printed(arithmetic), **case.shown())


CLAIM = Claim(feedforwards(last_aff=divisible_affs), judge)
