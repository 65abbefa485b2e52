"""Eq. 3 is the feedforward sublayer of a Transformer with GELU for ReLU: one patch's features z and, added to them,
FFN(z) = W2 GELU(W1 z + b1) + b2. Read as: with each Aff as a part of the linear layer beside it, W1 = B Diag(alpha),
b1 = B beta, W2 = Diag(alpha') C and b2 = beta', and without the Transformer's Layer Normalization, which Sec. 2
takes away before.

Place: Sec. 2, after Eq. 3
Printed: Eq (3) is the same as the feedforward sublayer of a Transformer with the ReLU non-linearity replaced by a
    GELU function
Bound: gamma_{d+2} times the magnitudes under GELU, times its largest slope, then gamma_{4d+4} times those of the sum
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.resmlp._layer import (
    Column,
    FeedForwardCase,
    added,
    batch_of,
    columns,
    feedforwards,
    matrix_of,
    product,
    transposed,
)
from imlp_audit.equations.rounded import Rounded


def judge(case: FeedForwardCase, arithmetic: Arithmetic) -> Trial:
    """Hold the layer's sublayer against a Transformer's."""
    b, c = arithmetic.matrix(case.b), arithmetic.matrix(case.c)
    w1 = [[weight * alpha for weight, alpha in zip(row, case.before.alpha, strict=True)] for row in b]
    w2 = [[weight * alpha for weight in row] for row, alpha in zip(c, case.after.alpha, strict=True)]
    b1, b2 = product(b, arithmetic.vector(case.before.beta)), arithmetic.vector(case.after.beta)

    def ffn(z: Column) -> list[Rounded]:
        hidden = [gelu(number + bias) for number, bias in zip(product(w1, z), b1, strict=True)]
        return [number + bias for number, bias in zip(product(w2, hidden), b2, strict=True)]

    transformer = added(arithmetic.matrix(case.z), transposed([ffn(z) for z in columns(case.z, arithmetic)]))
    y = case.module(arithmetic).cross_channel(batch_of(case.z, arithmetic))
    return equal(matrix_of(y), transformer, **case.shown())


CLAIM = Claim(feedforwards(), judge)
