"""Pooling mixes features between locations, and not at one.

Read as: with average or max pooling of 2 x 2 windows, one pixel apart on the padded grid, some output depends on an
input at another location, and none on an input of another channel. Pixels fall along each channel, so that the maximum
of a window is not always the pixel of its own place.

Place: list on CNNs, first item
Printed: (ii) is implemented with N x N convolutions (for N > 1) and pooling
Bound: none: derivatives are 1/4 or 1 where a path leads, and exactly zero elsewhere
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch.nn.functional as F
from hypothesis import strategies as st
from torch import Tensor

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._mixing import ONLY_TOKENS, mixes, on_grid
from imlp_audit.equations.strategies import NUMBERS, Matrix

_POOLINGS: Mapping[str, Callable[..., Tensor]] = {"average": F.avg_pool2d, "max": F.max_pool2d}


def judge(case: tuple[str, Matrix], arithmetic: Arithmetic) -> Trial:
    """Look at what pooling links on a grid of 2 x 2."""
    name, table = case
    pool = _POOLINGS[name]
    found = mixes(
        on_grid(lambda image: pool(F.pad(image, (1, 0, 1, 0)), kernel_size=2, stride=1)), arithmetic.tensor(table)
    )
    return Trial(found == ONLY_TOKENS, {"pooling": name, "pixels": table, "mixes": found})


_channel = st.permutations([number for number in NUMBERS if number > 0]).map(
    lambda pixels: sorted(pixels[:4], reverse=True)
)
_tables = st.tuples(_channel, _channel).map(lambda channels: tuple(zip(*channels, strict=True)))
CLAIM = Claim(st.tuples(st.sampled_from(list(_POOLINGS)), _tables), judge)
