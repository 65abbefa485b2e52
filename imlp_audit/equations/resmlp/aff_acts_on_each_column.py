"""Aff(X) is Aff of each column of X, that is of each patch's d features, on its own.

Place: Sec. 2, after Eq. 1
Printed: we denote by Aff(X) the Affine operation applied independently to each column of the matrix X
Bound: gamma_2 times |alpha_i x_ij| + |beta_i|
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.resmlp._layer import (
    PATCHES,
    WIDTHS,
    AffCase,
    affs,
    batch_of,
    columns,
    each_of,
    matrix_of,
    transposed,
)
from imlp_audit.equations.strategies import Matrix, matrices


def judge(case: tuple[AffCase, Matrix], arithmetic: Arithmetic) -> Trial:
    """Hold Aff of a matrix against Aff of its columns, side by side."""
    aff, x = case
    whole = matrix_of(aff.module(arithmetic)(batch_of(x, arithmetic)))
    by_column = transposed([aff.of(column, arithmetic) for column in columns(x, arithmetic)])
    return equal(whole, by_column, alpha=aff.alpha, beta=aff.beta, X=x)


CLAIM = Claim(each_of(lambda d, patches: st.tuples(affs(d), matrices(d, patches)), WIDTHS, PATCHES), judge)
