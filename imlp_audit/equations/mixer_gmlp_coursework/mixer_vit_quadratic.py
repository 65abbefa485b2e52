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
from imlp_audit.equations.mixer_gmlp_coursework._counts import macs
from imlp_audit.models.attention import SelfAttention
from imlp_audit.models.mixer import ChannelMixing, MixerLayer


def judge(case: tuple[int, int], arithmetic: Arithmetic) -> Trial:
    """Take second differences of both layers' ledgers, at S patches and C channels."""
    s, c = case
    bends = _bends([_vit(n, c) for n in range(s, s + 4)]), _bends([_mixer(n, c) for n in range(s, s + 4)])
    shown = {"S": s, "C": c, "second differences of ViT": bends[0], "of Mixer": bends[1]}
    return Trial(bends == ([4 * c] * 2, [0] * 2), shown)


def _vit(s: int, c: int) -> int:
    return macs(lambda: SelfAttention(c), 1, s, c) + macs(lambda: ChannelMixing(c, 4 * c), 1, s, c)


def _mixer(s: int, c: int) -> int:
    return macs(lambda: MixerLayer(s, c, 3, 4 * c), 1, s, c)


def _bends(costs: list[int]) -> list[int]:
    """Return the second differences."""
    return [after - 2 * at + before for before, at, after in zip(costs, costs[1:], costs[2:], strict=False)]


CLAIM = Claim(st.tuples(st.integers(1, 3), st.integers(1, 3)), judge)
