"""Token mixing adds to column i of X the two-layer perceptron of column i of LayerNorm(X).

Read as: LayerNorm over channels, its learned scale at 1 and shift at 0, as they start; no biases, as printed.

Place: Sec. 2.1, first equation of the block
Printed: U_{*,i} = X_{*,i} + W_2 sigma(W_1 LayerNorm(X)_{*,i}), i = 1..C
Bound: LayerNorm's (functions_norm.py), then gamma_{S+1} times the magnitudes under sigma, times its largest slope,
    then gamma_{D_S+2} times those of the sum
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._mixer import Mixing, run, token_mixed, token_mixings


def judge(case: Mixing, arithmetic: Arithmetic) -> Trial:
    """Hold the module against the printed columns."""
    printed = token_mixed(arithmetic.matrix(case.table), case, arithmetic)
    module = run(case.token_mixing(arithmetic), case.table, arithmetic)
    return equal(module, printed, X=case.table, W_1=case.first, W_2=case.second)


CLAIM = Claim(token_mixings(st.integers(1, 3), st.integers(1, 3)), judge)
