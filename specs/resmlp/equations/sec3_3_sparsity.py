"""Sec. 3.3, sparsity of the weights."""

from __future__ import annotations

from torch import Tensor

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.equations.strategies import nonzero, plain

from ._weights import Weights, weights


@claim(plain(st.tuples(weights(), nonzero())))
def sparsity_ignores_the_scale(case: tuple[Weights, float], arithmetic: Arithmetic) -> Trial:
    """The rate of weights below 5 % of the maximum is that of the matrix normalized by its maximum: read as,
    multiplying all weights by one number changes nothing.

    Place: Sec. 3.3, Measuring sparsity of the weights
    Printed: we measure the rate of components whose absolute value is lower than 5% of the maximum value; discarding
        the small values is analogous to the case where we normalize the matrix by its maximum
    Bound: none: twenty times a weight is exact
    """
    # Hold the rate before against the rate after.
    weights, scale = case
    w = weights.tensor(arithmetic)
    before, after = _sparsity(w), _sparsity(scale * w)
    return Trial(before == after, {"weights": w.tolist(), "scale": scale, "rate": before, "rate of scaled": after})


def _sparsity(w: Tensor) -> float:
    return float((20 * w.abs() < w.abs().max()).double().mean())


@claim(weights())
def four_bits_round_small_weights_to_zero(case: Weights, arithmetic: Arithmetic) -> Trial:
    """A 4-bit representation rounds to zero all weights below 6.25 % of the maximum. Read as: signed integers of 4
    bits, rounded to the nearest, with the maximum at 8 steps (-8 to 7, where 6.25 % is half a step, so that no weight
    above it is rounded to zero) or at 7 (-7 to 7).

    Place: Sec. 3.3, Measuring sparsity of the weights
    Printed: with a 4-bits representation of weight, one would typically round to zero all weights whose absolute value
        is below 6.25% of the maximum value
    Bound: none: the weights in steps are exact at 8 steps; at 7, 6.25 % is 0.4375 steps, far from where rounding turns
    """
    # Hold which weights are rounded to zero against which are below 6.25 %.
    w = case.tensor(arithmetic)
    small, large = w.abs() < 0.0625 * case.largest, w.abs() > 0.0625 * case.largest
    eight, seven = _rounded(w, -8, 7, case.largest / 8), _rounded(w, -7, 7, case.largest / 7)
    zeros_are_small = not (eight[small].any() or seven[small].any())
    holds = zeros_are_small and bool(eight[large].all())
    return Trial(holds, {"weights": w.tolist(), "of 8 steps": eight.tolist(), "of 7 steps": seven.tolist()})


def _rounded(w: Tensor, least: int, greatest: int, step: float) -> Tensor:
    return (w / step).round().clamp(least, greatest)
