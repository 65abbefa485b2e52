"""The Aff after C can be absorbed in it: Aff(C h) is a linear layer of weights Diag(alpha) C and bias beta.

Place: Sec. 2, after Eq. 1, of Eq. 3's C
Printed: it has no cost at inference time, since it can absorbed in the adjacent linear layer
Bound: gamma_{4d+2} times the magnitudes of the products of C's row with h, times |alpha_i|, and of beta_i
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.resmlp._absorbing import PerPatch
from imlp_audit.equations.resmlp._layer import WIDTHS, affs, each_of, product
from imlp_audit.equations.strategies import matrices, vectors


def judge(case: PerPatch, arithmetic: Arithmetic) -> Trial:
    """Hold Aff of C against the one linear layer."""
    apart = case.aff.module(arithmetic)(arithmetic.tensor(case.w) @ arithmetic.tensor(case.x))
    c, alpha = arithmetic.matrix(case.w), arithmetic.vector(case.aff.alpha)
    weights = [[alpha[i] * weight for weight in c[i]] for i in range(len(alpha))]
    scaled = product(weights, arithmetic.vector(case.x))
    return equal(apart, [scaled[i] + case.aff.beta[i] for i in range(len(alpha))], **case.shown("C"))


CLAIM = Claim(each_of(lambda d: st.builds(PerPatch, vectors(4 * d), matrices(d, 4 * d), affs(d)), WIDTHS), judge)
