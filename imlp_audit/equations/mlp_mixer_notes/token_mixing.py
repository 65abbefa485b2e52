"""U, channels by tokens, is X^T plus the token-mixing MLP of LayerNorm(X)^T.

Read as: U is the package's token mixing, transposed; LayerNorm over channels without a learned scale; no biases, as
printed.

Place: first equation
Printed: U = X^T + sigma(LayerNorm(X)^T x W_1^T) x W_2^T
Bound: LayerNorm's (functions_norm.py), then gamma_{S+1} times the magnitudes under sigma, times its largest slope,
    then gamma_{D_S+2} times those of the sum
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._mixer import columns, normalised, run
from imlp_audit.equations.mlp_mixer_notes._layer import Layer, layers, plus, sigma, times


def judge(case: Layer, arithmetic: Arithmetic) -> Trial:
    """Hold the module against the printed product."""
    x, w1, w2 = arithmetic.matrix(case.x), arithmetic.matrix(case.w1), arithmetic.matrix(case.w2)
    u = plus(columns(x), times(sigma(times(columns(normalised(x)), columns(w1))), columns(w2)))
    module = run(case.module(arithmetic).token_mixing, case.x, arithmetic)
    return equal(module.T, u, X=case.x, W_1=case.w1, W_2=case.w2)


CLAIM = Claim(layers(), judge)
