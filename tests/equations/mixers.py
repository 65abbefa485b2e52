"""Errors that are planted in the package's Mixer: wrong forward passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch.nn.functional as F
from torch import Tensor

from imlp_audit.models.mixer import ChannelMixing, Mlp, TokenMixing

TOKEN_MIXING: Mapping[str, Callable[[TokenMixing, Tensor], Tensor]] = {
    "no skip": lambda step, x: step.mlp(step.norm(x).mT).mT,
    "no norm": lambda step, x: x + step.mlp(x.mT).mT,
    "the norm last": lambda step, x: step.norm(x + step.mlp(x.mT).mT),
    "the skip of the normed table": lambda step, x: step.norm(x) + step.mlp(step.norm(x).mT).mT,
    "norm over tokens": lambda step, x: x + step.mlp(F.layer_norm(x.mT, x.shape[1:2], eps=step.norm.eps)).mT,
}

CHANNEL_MIXING: Mapping[str, Callable[[ChannelMixing, Tensor], Tensor]] = {
    "no skip": lambda step, x: step.mlp(step.norm(x)),
    "no norm": lambda step, x: x + step.mlp(x),
    "the norm last": lambda step, x: step.norm(x + step.mlp(x)),
    "the skip of the normed table": lambda step, x: step.norm(x) + step.mlp(step.norm(x)),
    "norm over tokens": lambda step, x: x + step.mlp(F.layer_norm(x.mT, x.shape[1:2], eps=step.norm.eps).mT),
}

MLP: Mapping[str, Callable[[Mlp, Tensor], Tensor]] = {
    "no activation": lambda mlp, x: mlp.fc2(mlp.fc1(x)),
    "ReLU": lambda mlp, x: mlp.fc2(F.relu(mlp.fc1(x))),
    "the tanh form of GELU": lambda mlp, x: mlp.fc2(F.gelu(mlp.fc1(x), approximate="tanh")),
    "an activation too many": lambda mlp, x: mlp.act(mlp.fc2(mlp.act(mlp.fc1(x)))),
}


def mlp_across_rows(mlp: Mlp, x: Tensor) -> Tensor:
    """An MLP that sees the mean of all rows too."""
    y: Tensor = mlp.fc2(mlp.act(mlp.fc1(x + x.mean(-2, keepdim=True))))
    return y
