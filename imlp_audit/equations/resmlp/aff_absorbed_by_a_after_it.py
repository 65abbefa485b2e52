"""The Aff before A can be absorbed in A: a linear layer across patches, shared by all channels, with a bias for
each patch, gives what A gives after the Aff. Channel 1 leaves one such layer: its weights are alpha_1 A, its biases
beta_1 times the sums of A's rows. Tried where beta is zero and no other number is.

Place: Sec. 2, after Eq. 1, of Eq. 2's A and the Aff before it
Printed: it has no cost at inference time, since it can absorbed in the adjacent linear layer
Nearest: aff_absorbed_by_a_after_it_corrected
Bound: gamma_{N^2+2} times the magnitudes of A's row's products with alpha_1 x and beta_1
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.resmlp._absorbing import AcrossPatches, across_two_channels
from imlp_audit.equations.resmlp._layer import batch_of, matrix_of, product
from imlp_audit.equations.rounded import total


def judge(case: AcrossPatches, arithmetic: Arithmetic) -> Trial:
    """Hold A of Aff against the one layer that channel 1 leaves."""
    apart = matrix_of(case.linear(arithmetic)(case.aff.module(arithmetic)(batch_of(case.x, arithmetic))))
    a, alpha, beta = arithmetic.matrix(case.a), case.aff.alpha[0], case.aff.beta[0]
    weights = [[alpha * weight for weight in row] for row in a]
    biases = [beta * total(row) for row in a]
    absorbed = [
        [number + bias for number, bias in zip(product(weights, channel), biases, strict=True)]
        for channel in arithmetic.matrix(case.x)
    ]
    return equal(apart, absorbed, **case.shown())


CLAIM = Claim(across_two_channels(), judge)
