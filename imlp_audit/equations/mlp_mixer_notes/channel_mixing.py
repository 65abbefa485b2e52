"""Y, tokens by channels, is U^T plus the channel-mixing MLP of LayerNorm(U^T).

Read as: Y is the package's channel mixing of U^T; LayerNorm over channels without a learned scale; no biases, as
printed.

Place: second equation
Printed: Y = U^T + sigma(LayerNorm(U^T) x W_3^T) x W_4^T
Bound: LayerNorm's (functions_norm.py), then gamma_{C+1} times the magnitudes under sigma, times its largest slope,
    then gamma_{D_C+2} times those of the sum
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._mixer import columns, normalised, run
from imlp_audit.equations.mlp_mixer_notes._layer import Layer, layers, plus, sigma, times


def judge(case: Layer, arithmetic: Arithmetic) -> Trial:
    """Hold the module against the printed product, for any U^T."""
    u_t, w3, w4 = arithmetic.matrix(case.x), arithmetic.matrix(case.w3), arithmetic.matrix(case.w4)
    y = plus(u_t, times(sigma(times(normalised(u_t), columns(w3))), columns(w4)))
    module = run(case.module(arithmetic).channel_mixing, case.x, arithmetic)
    return equal(module, y, **{"U^T": case.x}, W_3=case.w3, W_4=case.w4)


CLAIM = Claim(layers(), judge)
