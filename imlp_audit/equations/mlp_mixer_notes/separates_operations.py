"""Mixer separates the two operations: its channel-mixing MLP works per location, its token-mixing MLP across locations.

Read as: the operations are the MLPs, as the next sentence says. In the token-mixing MLP some output depends on an input
of another token and none on one of another channel; in the channel-mixing MLP it is the other way round. Numbers are
positive, where no slope of GELU is near 0 and no two paths cancel. (The LayerNorm before token mixing does link
channels.)

Place: paragraph after the lists
Printed: The Mixer architecture clearly separates the per-location (channel-mixing) operations (i) and cross-location
    (token-mixing) operations (ii). Both operations are implemented with MLPs.
Bound: none: derivatives are exactly zero where no path leads
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._mixer import Mixing, channel_mixings, token_mixings
from imlp_audit.equations.mixer_gmlp_coursework._mixing import ONLY_CHANNELS, ONLY_TOKENS, mixes
from imlp_audit.equations.strategies import positive


@dataclass(frozen=True)
class Layer:
    """The two steps of a layer, each with the table that its MLP reads."""

    tokens: Mixing
    channels: Mixing


def judge(case: Layer, arithmetic: Arithmetic) -> Trial:
    """Look at what each MLP links."""
    over_tokens = case.tokens.token_mixing(arithmetic).mlp
    over_channels = case.channels.channel_mixing(arithmetic).mlp
    first = mixes(lambda x: over_tokens(x.T).T, arithmetic.tensor(case.tokens.table))
    second = mixes(over_channels, arithmetic.tensor(case.channels.table))
    weights = {"W_1": case.tokens.first, "W_2": case.tokens.second}
    weights |= {"W_3": case.channels.first, "W_4": case.channels.second}
    found = {"the token-mixing MLP mixes": first, "the channel-mixing MLP mixes": second}
    return Trial(first == ONLY_TOKENS and second == ONLY_CHANNELS, {**weights, **found})


_two, _one = st.just(2), st.just(1)
CLAIM = Claim(
    st.builds(Layer, token_mixings(_two, _two, _one, positive()), channel_mixings(_two, _two, _one, positive())), judge
)
