"""Sec. 3.3, sparsity of the weights."""

from hypothesis import strategies as st
from torch import Tensor, tensor

from imlp_audit.claims import NONZERO, POSITIVE, Sides, claim, tensors

_near = st.integers(-18, 18)  # 5 % of the largest weight is 12.8 / 256 and 6.25 % is 16 / 256
_relative = st.tuples(_near, st.one_of(_near, st.integers(-256, 256))).map(lambda two: tensor([256.0, *two]) / 256)


@claim(
    weights=_relative,
    scale=tensors(values=NONZERO),
    place="Sec. 3.3, Measuring sparsity of the weights",
    printed="we measure the rate of components whose absolute value is lower than 5% of the maximum value; "
    "discarding the small values is analogous to the case where we normalize the matrix by its maximum",
)
def sparsity_ignores_the_scale(weights: Tensor, scale: Tensor) -> Sides:
    """The rate of weights below 5 % of the maximum is that of the matrix normalized by its maximum: read as,
    multiplying all weights by one number changes nothing.
    """

    def rate(w: Tensor) -> Tensor:
        return (w.abs() < 0.05 * w.abs().max()).double().mean()

    return rate(weights), rate(scale * weights)


@claim(
    weights=_relative,
    largest=tensors(values=POSITIVE),
    examples=[{"weights": tensor([256.0, 16.0, -17.0]) / 256, "largest": tensor(1.0)}],  # 16 / 256 is half a step
    place="Sec. 3.3, Measuring sparsity of the weights",
    printed="with a 4-bits representation of weight, one would typically round to zero all weights whose absolute "
    "value is below 6.25% of the maximum value",
)
def four_bits_round_small_weights_to_zero(weights: Tensor, largest: Tensor) -> Sides:
    """A 4-bit representation rounds to zero all weights below 6.25 % of the maximum. Read as: signed integers of 4
    bits, rounded to the nearest, with the maximum at 8 steps (-8 to 7, where 6.25 % is half a step, so that no weight
    above it is rounded to zero) or at 7 (-7 to 7).
    """
    w = largest * weights
    small, large = weights.abs() < 0.0625, weights.abs() > 0.0625
    eight, seven = (w / (largest / 8)).round().clamp(-8, 7), (w / (largest / 7)).round().clamp(-7, 7)
    zeros_are_small = not (eight[small].any() or seven[small].any())
    return zeros_are_small and bool(eight[large].all())
