"""Channel mixing adds to row j of U the two-layer perceptron of row j of LayerNorm(U).

Read as: LayerNorm over channels, its learned scale at 1 and shift at 0, as they start; no biases, as printed; a row
under W_3 is a vector of C numbers.

Place: Sec. 2.1, second equation of the block
Printed: Y_{j,*} = U_{j,*} + W_4 sigma(W_3 LayerNorm(U)_{j,*}), j = 1..S
Bound: LayerNorm's (functions_norm.py), then gamma_{C+1} times the magnitudes under sigma, times its largest slope,
    then gamma_{D_C+2} times those of the sum
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._mixer import Mixing, channel_mixed, channel_mixings, run


def judge(case: Mixing, arithmetic: Arithmetic) -> Trial:
    """Hold the module against the printed rows."""
    printed = channel_mixed(arithmetic.matrix(case.table), case, arithmetic)
    module = run(case.channel_mixing(arithmetic), case.table, arithmetic)
    return equal(module, printed, U=case.table, W_3=case.first, W_4=case.second)


CLAIM = Claim(channel_mixings(st.integers(1, 3), st.integers(1, 3)), judge)
