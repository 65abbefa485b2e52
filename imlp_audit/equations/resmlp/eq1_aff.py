"""Aff(x) is the product of the diagonal matrix of alpha with x, plus beta.

Place: Sec. 2, Eq. 1
Printed: Aff(x) = Diag(alpha) x + beta
Bound: gamma_{d+1} times the magnitudes of row i's d products and beta_i
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.resmlp._layer import AffCase, affs, each_of, product
from imlp_audit.equations.strategies import Vector, vectors


def judge(case: tuple[AffCase, Vector], arithmetic: Arithmetic) -> Trial:
    """Hold the module against the matrix product."""
    aff, x = case
    diagonal = [[alpha if i == j else 0.0 for j in range(len(x))] for i, alpha in enumerate(aff.alpha)]
    scaled = product(arithmetic.matrix(diagonal), arithmetic.vector(x))
    printed = [scaled[i] + aff.beta[i] for i in range(len(x))]
    return equal(aff.module(arithmetic)(arithmetic.tensor(x)), printed, alpha=aff.alpha, beta=aff.beta, x=x)


CLAIM = Claim(each_of(lambda d: st.tuples(affs(d), vectors(d)), (1, 2, 3)), judge)
