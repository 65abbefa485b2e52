"""Channel mixing with tied parameters is invariant to position.

Read as: two tokens that change places leave what channel mixing gives as it is.

Place: paragraph on tying
Printed: Tying the parameters of the channel-mixing MLPs (within each layer) is a natural choice - it provides
    positional invariance, a prominent feature of convolutions.
Nearest: positional_invariance_corrected
Bound: LayerNorm's (functions_norm.py), then those of two projections and GELU
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._mixer import Mixing, channel_mixed, channel_mixings, run
from imlp_audit.equations.strategies import nonzero


def judge(case: Mixing, arithmetic: Arithmetic) -> Trial:
    """Hold channel mixing of the exchanged tokens against that of the tokens."""
    exchanged = run(case.channel_mixing(arithmetic), case.table[::-1], arithmetic)
    printed = channel_mixed(arithmetic.matrix(case.table), case, arithmetic)
    return equal(exchanged, printed, U=case.table, W_3=case.first, W_4=case.second)


CLAIM = Claim(channel_mixings(st.just(2), st.just(2), st.just(1), nonzero()), judge)
