"""A layer mixes over tokens and over channels strictly in turn: its first MLP does the one, its second the other.

Read as: the operations are the two MLPs. In the first some output depends on an input of another token and none on one
of another channel; in the second it is the other way round. Numbers are positive, where no slope of GELU is near 0 and
no two paths cancel.

Place: Sec. 2.1, paragraph on mixing
Printed: Идея MLP-Mixer состоит в том, чтобы выполнять данные операции строго по очереди.
Bound: none: derivatives that no path carries are exactly zero
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
