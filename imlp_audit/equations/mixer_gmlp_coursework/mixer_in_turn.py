"""A layer mixes over tokens and over channels strictly in turn: its first MLP does the one, its second the other.

Read as: the operations are the two MLPs. No output of the first depends on an input of another channel, none of the
second on an input of another token.

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
from imlp_audit.equations.mixer_gmlp_coursework._mixing import mixes


@dataclass(frozen=True)
class Layer:
    """The two steps of a layer, each with the table that its MLP reads."""

    tokens: Mixing
    channels: Mixing


def judge(case: Layer, arithmetic: Arithmetic) -> Trial:
    """Look at which tokens and channels each MLP links."""
    over_tokens = case.tokens.token_mixing(arithmetic).mlp
    over_channels = case.channels.channel_mixing(arithmetic).mlp
    first = mixes(lambda x: over_tokens(x.T).T, arithmetic.tensor(case.tokens.table))
    second = mixes(over_channels, arithmetic.tensor(case.channels.table))
    shown = {
        "W_1": case.tokens.first,
        "W_2": case.tokens.second,
        "W_3": case.channels.first,
        "W_4": case.channels.second,
    }
    found = {"token mixing links channels": first.channels, "channel mixing links tokens": second.tokens}
    return Trial(not first.channels and not second.tokens, {**shown, **found})


_size = st.integers(1, 3)
CLAIM = Claim(st.builds(Layer, token_mixings(_size, _size), channel_mixings(_size, _size)), judge)
