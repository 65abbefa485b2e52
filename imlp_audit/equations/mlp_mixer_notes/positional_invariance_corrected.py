"""Channel mixing with tied parameters is equivariant: tokens that change places change places in what it gives.

Read as: for any permutation of the tokens. What happens to a token does not depend on where it is.

Place: paragraph on tying
Corrected: it provides positional equivariance: f(P U) = P f(U) for every permutation P of the tokens
Bound: LayerNorm's (functions_norm.py), then those of two projections and GELU
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._mixer import Mixing, channel_mixed, channel_mixings, run, with_biases


def judge(case: tuple[Mixing, list[int]], arithmetic: Arithmetic) -> Trial:
    """Hold channel mixing of the permuted tokens against the permuted tokens of channel mixing."""
    mixing, order = case
    permuted = run(mixing.channel_mixing(arithmetic), tuple(mixing.table[place] for place in order), arithmetic)
    mixed = channel_mixed(arithmetic.matrix(mixing.table), mixing, arithmetic)
    shown = {"U": mixing.table, "order": order, "W_3": mixing.first, "W_4": mixing.second}
    return equal(permuted, [mixed[place] for place in order], **shown)


CLAIM = Claim(
    channel_mixings(st.integers(2, 3), st.integers(1, 3))
    .flatmap(with_biases)
    .flatmap(lambda mixing: st.tuples(st.just(mixing), st.permutations(range(len(mixing.table))))),
    judge,
)
