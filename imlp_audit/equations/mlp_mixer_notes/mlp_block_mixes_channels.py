"""A Transformer's MLP block mixes features at a location, and not between locations.

Read as: with LayerNorm before it and a skip connection around it, some output depends on an input of another channel,
and none on an input of another token, for positive numbers, where no slope of GELU is near 0 and no two paths cancel.

Place: list on Vision Transformers, second item
Printed: MLP-blocks perform (i)
Bound: none: derivatives are exactly zero where no path leads
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._mixer import Mixing, channel_mixings
from imlp_audit.equations.mixer_gmlp_coursework._mixing import ONLY_CHANNELS, mixes
from imlp_audit.equations.strategies import positive


def judge(case: Mixing, arithmetic: Arithmetic) -> Trial:
    """Look at what the block links, and its MLP alone."""
    block, table = case.channel_mixing(arithmetic), arithmetic.tensor(case.table)
    found, of_mlp = mixes(lambda x: block(x[None])[0], table), mixes(block.mlp, table)
    shown = {"X": case.table, "first matrix": case.first, "second matrix": case.second}
    return Trial(not found.tokens and of_mlp == ONLY_CHANNELS, {**shown, "block mixes": found, "its MLP": of_mlp})


CLAIM = Claim(channel_mixings(st.just(2), st.just(2), st.just(1), positive()), judge)
