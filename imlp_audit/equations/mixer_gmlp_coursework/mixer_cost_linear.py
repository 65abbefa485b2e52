"""MLP-Mixer's complexity is linear in the number of patches and in the number of channels.

Read as: D_S and D_C stay as they are, since they are chosen independently of S and C; then k times the patches, or k
times the channels, take k times the multiply-accumulates of a layer. mixer_hidden_widths tells what their inequalities
do to this.

Place: Sec. 2.1, paragraph on complexity
Printed: Таким образом, получим, что вычислительная сложность MLP-Mixer линейна по количеству каналов и патчей.
Bound: none: the ledger of a forward pass is exact
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._counts import macs
from imlp_audit.equations.mixer_gmlp_coursework._layers import Sizes, sizes


@dataclass(frozen=True)
class Growth:
    """A layer, and how many times more patches, or channels, it is to have."""

    sizes: Sizes
    times: int


def judge(case: Growth, arithmetic: Arithmetic) -> Trial:
    """Hold the ledgers of the larger layers against the layer's own."""
    own = _cost(case.sizes)
    by_patches = _cost(replace(case.sizes, s=case.times * case.sizes.s))
    by_channels = _cost(replace(case.sizes, c=case.times * case.sizes.c))
    found = {"multiply-accumulates": own, "with k S patches": by_patches, "with k C channels": by_channels}
    return Trial(by_patches == by_channels == case.times * own, {**case.sizes.shown(), "k": case.times, **found})


def _cost(sizes: Sizes) -> int:
    return macs(sizes.layer, 1, sizes.s, sizes.c)


CLAIM = Claim(st.builds(Growth, sizes(2), st.integers(2, 3)), judge)
