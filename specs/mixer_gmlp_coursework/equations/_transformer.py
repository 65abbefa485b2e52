"""A Transformer block: self-attention, and the fully connected layers of width D_C."""

from __future__ import annotations

from imlp_audit.equations.counts import macs
from imlp_audit.models.attention import SelfAttention
from imlp_audit.models.mixer import ChannelMixing


def transformer_macs(tokens: int, channels: int, hidden: int) -> int:
    """Return the multiply-accumulates of both, of one sequence."""
    attention = macs(lambda: SelfAttention(channels), 1, tokens, channels)
    return attention + macs(lambda: ChannelMixing(channels, hidden), 1, tokens, channels)
