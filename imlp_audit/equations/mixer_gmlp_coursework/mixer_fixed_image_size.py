"""A Mixer works only with images of one size.

Read as: an image of another number of patches fails.

Place: Sec. 2.3
Printed: слои token-mixing зависят от длины последовательности S, что является существенным ограничением данной модели.
    Так как она может работать только с фиксированными размерами изображений.
Bound: none: the forward pass runs or raises
"""

from __future__ import annotations

import torch
from hypothesis import strategies as st
from torch import nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.models.mixer import MixerLayer, PatchEmbedding

Grid = tuple[int, int]


def judge(case: tuple[Grid, Grid], arithmetic: Arithmetic) -> Trial:
    """Give a Mixer for one grid of 2 x 2 patches an image of that size, and of another."""
    own, other = case
    with torch.device("meta"):
        mixer = nn.Sequential(PatchEmbedding(2, 3), MixerLayer(own[0] * own[1], 3, 4, 4))
    runs = _runs(mixer, own), _runs(mixer, other)
    return Trial(runs == (True, False), {"patches": own, "of another image": other, "run": list(runs)})


def _runs(mixer: nn.Module, grid: Grid) -> bool:
    try:
        mixer(torch.empty(1, 3, 2 * grid[0], 2 * grid[1], device="meta"))
    except RuntimeError:
        return False
    return True


_grids = st.tuples(st.integers(1, 3), st.integers(1, 3))
CLAIM = Claim(st.tuples(_grids, _grids).filter(lambda case: case[0][0] * case[0][1] != case[1][0] * case[1][1]), judge)
