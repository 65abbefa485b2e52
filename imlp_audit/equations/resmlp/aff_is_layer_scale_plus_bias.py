"""Aff is LayerScale with an additional bias.

Place: Sec. 2, after Eq. 1
Printed: The closer operator to Aff is the LayerScale, with an additional bias term
Bound: gamma_2 times |alpha_i x_i| + |beta_i|
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.resmlp._layer import AffCase, affs, each_of, loaded
from imlp_audit.equations.strategies import Vector, vectors
from imlp_audit.models.resmlp import LayerScale


def judge(case: tuple[AffCase, Vector], arithmetic: Arithmetic) -> Trial:
    """Hold LayerScale plus beta against Aff."""
    aff, x = case
    scale = loaded(LayerScale(len(x), 1.0), {"alpha": aff.alpha}, arithmetic)
    with_bias = scale(arithmetic.tensor(x)) + arithmetic.tensor(aff.beta)
    return equal(with_bias, aff.of(arithmetic.vector(x), arithmetic), alpha=aff.alpha, beta=aff.beta, x=x)


CLAIM = Claim(each_of(lambda d: st.tuples(affs(d), vectors(d)), (1, 2, 3)), judge)
