"""The Aff before B can be absorbed in it: B Aff(z) is a linear layer of weights B Diag(alpha) and bias B beta.

Place: Sec. 2, after Eq. 1, of Eq. 3's B
Printed: it has no cost at inference time, since it can absorbed in the adjacent linear layer
Bound: gamma_{d+2} times the magnitudes of the products of B's row with Diag(alpha) z and beta
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.resmlp._absorbing import PerPatch
from imlp_audit.equations.resmlp._layer import WIDTHS, affs, each_of, product
from imlp_audit.equations.strategies import matrices, vectors


def judge(case: PerPatch, arithmetic: Arithmetic) -> Trial:
    """Hold B of Aff against the one linear layer."""
    apart = arithmetic.tensor(case.w) @ case.aff.module(arithmetic)(arithmetic.tensor(case.x))
    b, alpha, beta = arithmetic.matrix(case.w), arithmetic.vector(case.aff.alpha), arithmetic.vector(case.aff.beta)
    weights = [[row[j] * alpha[j] for j in range(len(alpha))] for row in b]
    scaled, bias = product(weights, arithmetic.vector(case.x)), product(b, beta)
    return equal(apart, [scaled[k] + bias[k] for k in range(len(b))], **case.shown("B"))


CLAIM = Claim(each_of(lambda d: st.builds(PerPatch, vectors(d), matrices(4 * d, d), affs(d)), WIDTHS), judge)
