"""Every matrix of the two equations has the shape that the list prints.

Place: list after the equations
Printed: X in R^{S x C}, W_1 in R^{D_S x S}, W_2 in R^{S x D_S}, W_3 in R^{D_C x C}, W_4 in R^{C x D_C},
    LayerNorm(X)^T x W_1^T in R^{C x D_S}, sigma(LayerNorm(X)^T x W_1^T) x W_2^T in R^{C x S}, U in R^{C x S},
    LayerNorm(U^T) x W_3^T in R^{S x D_C}, sigma(LayerNorm(U^T) x W_3^T) x W_4^T in R^{S x C}, Y in R^{S x C}
Bound: none: shapes are compared
"""

from __future__ import annotations

import torch
import torch.nn.functional as F

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._layers import Sizes, sizes


def judge(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """Evaluate the equations with the module's own norms and matrices, and hold every shape against the list."""
    with torch.device("meta"):
        layer, x = case.layer(), torch.empty(case.s, case.c)
    over_tokens, over_channels = layer.token_mixing, layer.channel_mixing
    w1, w2 = over_tokens.mlp.fc1.weight, over_tokens.mlp.fc2.weight
    w3, w4 = over_channels.mlp.fc1.weight, over_channels.mlp.fc2.weight
    token_hidden = over_tokens.norm(x).T @ w1.T
    token_mixed = F.gelu(token_hidden) @ w2.T
    u = x.T + token_mixed
    channel_hidden = over_channels.norm(u.T) @ w3.T
    channel_mixed = F.gelu(channel_hidden) @ w4.T
    y = u.T + channel_mixed
    ours = [tuple(m.shape) for m in (x, w1, w2, w3, w4, token_hidden, token_mixed, u, channel_hidden, channel_mixed, y)]
    return Trial(ours == _printed(case), {**case.shown(), "shapes": ours, "printed": _printed(case)})


def _printed(case: Sizes) -> list[tuple[int, int]]:
    """Return the list, in the order of the notes."""
    s, c, d_s, d_c = case.s, case.c, case.d_s, case.d_c
    weights = [(d_s, s), (s, d_s), (d_c, c), (c, d_c)]
    return [(s, c), *weights, (c, d_s), (c, s), (c, s), (s, d_c), (s, c), (s, c)]


CLAIM = Claim(sizes(2), judge)
