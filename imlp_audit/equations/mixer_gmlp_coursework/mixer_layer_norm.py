"""Each of the two MLPs reads its input normalised by LayerNorm over channels.

Read as: every token on its own has mean 0 and variance 1 over its channels (up to the epsilon 1e-6 under the root),
and is then scaled and shifted channel by channel by two learned vectors g and h.

Place: Sec. 2.1, after the definition of GELU
Printed: Вход любого блока нормализуется с помощью LayerNorm по каналам.
Bound: that of functions_norm.py, whether the mean is one sum or Welford's recurrence
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from hypothesis import strategies as st
from torch import Tensor

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions_norm import layer_norm
from imlp_audit.equations.mixer_gmlp_coursework._mixer import EPSILON
from imlp_audit.equations.strategies import Matrix, Vector, matrices, vectors
from imlp_audit.models.mixer import ChannelMixing, TokenMixing


@dataclass(frozen=True)
class Normalised:
    """A table, and the scale and shift of each channel."""

    table: Matrix
    scale: Vector
    shift: Vector


def judge(case: Normalised, arithmetic: Arithmetic) -> Trial:
    """Hold what both MLPs read against LayerNorm of each row."""
    scale, shift = arithmetic.vector(case.scale), arithmetic.vector(case.shift)
    rows = [layer_norm(row, EPSILON, scale, shift) for row in arithmetic.matrix(case.table)]
    tokens, channels = len(case.table), len(case.scale)
    of_tokens = _read_by_mlp(TokenMixing(tokens, channels, hidden=1), case, arithmetic).transpose(-1, -2)
    of_channels = _read_by_mlp(ChannelMixing(channels, hidden=1), case, arithmetic)
    return equal(torch.stack((of_tokens, of_channels)), [rows, rows], X=case.table, g=case.scale, h=case.shift)


def _read_by_mlp(step: TokenMixing | ChannelMixing, case: Normalised, arithmetic: Arithmetic) -> Tensor:
    """Return the input that a step's MLP gets for the case's table."""
    step.norm.weight.data, step.norm.bias.data = arithmetic.tensor(case.scale), arithmetic.tensor(case.shift)
    table = arithmetic.tensor(case.table)[None]
    read: list[Tensor] = []
    step.mlp.register_forward_pre_hook(lambda _mlp, inputs: read.append(inputs[0][0]))
    arithmetic.place(step)(table)
    return read[0]


CLAIM = Claim(
    st.tuples(st.integers(1, 3), st.integers(1, 3)).flatmap(
        lambda size: st.builds(Normalised, matrices(*size), vectors(size[1]), vectors(size[1]))
    ),
    judge,
)
