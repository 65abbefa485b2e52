"""Channel mixing is 1 x 1 convolution over the grid of patches.

Read as: each of its two fully-connected layers is a 1 x 1 convolution of the table laid out as a grid, with GELU
between them.

Place: Sec. 2.1, last paragraph
Printed: в крайнем случае блок channel-mixing можно рассматривать как 1 x 1 свёртку
Bound: gamma_{C+2} times the magnitudes under GELU, times its largest slope, then gamma_{D_C+1} times those of the sum
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from hypothesis import strategies as st
from torch import Tensor

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._mixer import Mixing, channel_mixings, with_biases


def judge(case: Mixing, arithmetic: Arithmetic) -> Trial:
    """Hold the module's MLP and the two convolutions against the MLP of each row."""
    table = arithmetic.tensor(case.table)
    module, convolved = case.channel_mixing(arithmetic).mlp(table), _convolved(table, case, arithmetic)
    rows = [case.mlp(row, arithmetic) for row in arithmetic.matrix(case.table)]
    shown = {"LayerNorm(U)": case.table, "W_3": case.first, "b_3": case.first_bias}
    return equal(torch.stack((module, convolved)), [rows, rows], **shown, W_4=case.second, b_4=case.second_bias)


def _convolved(table: Tensor, case: Mixing, arithmetic: Arithmetic) -> Tensor:
    """Return what 1 x 1 convolutions make of the table as a grid two patches wide."""
    grid = table.T.reshape(table.shape[1], -1, 2)
    hidden = F.conv2d(grid, arithmetic.tensor(case.first)[:, :, None, None], arithmetic.tensor(case.first_bias))
    second = arithmetic.tensor(case.second)[:, :, None, None]
    return F.conv2d(F.gelu(hidden), second, arithmetic.tensor(case.second_bias)).flatten(1).T


CLAIM = Claim(channel_mixings(st.sampled_from([2, 4]), st.integers(1, 2)).flatmap(with_biases), judge)
