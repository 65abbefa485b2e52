"""The rate of weights below 5 % of the maximum is that of the matrix normalized by its maximum: read as, multiplying
all weights by one number changes nothing.

Place: Sec. 3.3, Measuring sparsity of the weights
Printed: we measure the rate of components whose absolute value is lower than 5% of the maximum value; discarding the
    small values is analogous to the case where we normalize the matrix by its maximum
Bound: none: twenty times a weight is exact
"""

from __future__ import annotations

from hypothesis import strategies as st
from torch import Tensor

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.resmlp._weights import Weights, weights
from imlp_audit.equations.strategies import nonzero


def judge(case: tuple[Weights, float], arithmetic: Arithmetic) -> Trial:
    """Hold the rate before against the rate after."""
    weights, scale = case
    w = weights.tensor(arithmetic)
    before, after = _sparsity(w), _sparsity(scale * w)
    return Trial(before == after, {"weights": w.tolist(), "scale": scale, "rate": before, "rate of scaled": after})


def _sparsity(w: Tensor) -> float:
    return float((20 * w.abs() < w.abs().max()).double().mean())


CLAIM = Claim(st.tuples(weights(), nonzero()), judge)
