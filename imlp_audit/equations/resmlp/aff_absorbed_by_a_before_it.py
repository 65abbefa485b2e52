"""The Aff after A can be absorbed in A: a linear layer across patches, shared by all channels, with a bias for
each patch, gives what the Aff gives after A. Channel 1 leaves one such layer: its weights are alpha_1 A, its biases
all beta_1. Tried where beta is zero and no other number is.

Place: Sec. 2, after Eq. 1, of Eq. 2's A and the Aff after it
Printed: it has no cost at inference time, since it can absorbed in the adjacent linear layer
Nearest: aff_absorbed_by_a_before_it_corrected
Bound: gamma_{N^2+2} times the magnitudes of A's row's products with alpha_1 x, and of beta_1
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.resmlp._absorbing import AcrossPatches, across_two_channels
from imlp_audit.equations.resmlp._layer import batch_of, matrix_of, product


def judge(case: AcrossPatches, arithmetic: Arithmetic) -> Trial:
    """Hold Aff of A against the one layer that channel 1 leaves."""
    apart = matrix_of(case.aff.module(arithmetic)(case.linear(arithmetic)(batch_of(case.x, arithmetic))))
    alpha, beta = case.aff.alpha[0], case.aff.beta[0]
    weights = [[alpha * weight for weight in row] for row in arithmetic.matrix(case.a)]
    absorbed = [[number + beta for number in product(weights, x)] for x in arithmetic.matrix(case.x)]
    return equal(apart, absorbed, **case.shown())


CLAIM = Claim(across_two_channels(), judge)
