"""ViT's complexity is quadratic in S.

Read as: the multiply-accumulates of a ViT layer, self-attention and an MLP on channels, are a polynomial of degree 2 in
S: equal steps of S change them by amounts that grow by the same amount 4 C > 0 each time. A Mixer layer's amounts do
not grow.

Place: Sec. 2.1, paragraph on complexity
Printed: В то время, как ViT квадратичен по S.
Bound: none: the ledger of a forward pass is exact
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._counts import macs, second_differences, vit_layer_macs
from imlp_audit.models.mixer import MixerLayer


def judge(case: tuple[int, int], arithmetic: Arithmetic) -> Trial:
    """Take second differences of both layers' ledgers, at S patches and C channels."""
    s, c = case
    vit = second_differences([vit_layer_macs(n, c) for n in range(s, s + 4)])
    mixer = second_differences([_mixer_layer_macs(n, c) for n in range(s, s + 4)])
    shown = {"S": s, "C": c, "second differences of ViT": vit, "of Mixer": mixer}
    return Trial(vit == [4 * c] * 2 and mixer == [0] * 2, shown)


def _mixer_layer_macs(tokens: int, channels: int) -> int:
    return macs(lambda: MixerLayer(tokens, channels, 3, 4 * channels), 1, tokens, channels)


CLAIM = Claim(st.tuples(st.integers(1, 3), st.integers(1, 3)), judge)
