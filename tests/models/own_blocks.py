"""Blocks of one's own, as a user writes them, in place of a host's MLPs. Some are wrong on purpose."""

from __future__ import annotations

import os
from typing import ClassVar

from torch import Tensor, nn


class GatedMlp(nn.Module):
    """W3 (W1 x * GELU(norm(W2 x))): two branches of `branch` times C channels each."""

    axes: ClassVar = {"gate_norm": ("none", "layer"), "bias": (True, False), "branch": (2, 3)}

    def __init__(
        self,
        in_features: int,
        out_features: int,
        gate_norm: str = "layer",
        bias: bool = False,
        branch: int = 5,
        use_conv: bool = False,
    ) -> None:
        super().__init__()
        hidden = branch * in_features

        def layer(width: int, out: int) -> nn.Module:
            return nn.Conv2d(width, out, 1, bias=bias) if use_conv else nn.Linear(width, out, bias=bias)

        self.value, self.gate = layer(in_features, hidden), layer(in_features, hidden)
        self.norm: nn.Module = nn.Identity()
        if gate_norm == "layer":
            self.norm = nn.GroupNorm(1, hidden) if use_conv else nn.LayerNorm(hidden)
        self.act, self.out = nn.GELU(), layer(hidden, out_features)

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape of tokens or maps."""
        y: Tensor = self.out(self.value(x) * self.act(self.norm(self.gate(x))))
        return y


class Linked(nn.Module):
    """A linear layer whose bias goes with the norm: two axes that change each other's effect."""

    axes: ClassVar = {"norm": ("none", "layer"), "inner": ("none", "double")}

    def __init__(self, in_features: int, out_features: int, norm: str, inner: str) -> None:
        super().__init__()
        width = in_features * (2 if inner == "double" else 1)
        self.fc1, self.fc2 = nn.Linear(in_features, width), nn.Linear(width, out_features)
        self.norm = nn.LayerNorm(width) if norm == "layer" else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape (batch, tokens, channels)."""
        y: Tensor = self.fc2(self.norm(self.fc1(x)))
        return y


class ForTokens(nn.Module):
    """A block that knows no feature maps, and takes the hidden width of the MLP."""

    def __init__(self, in_features: int, hidden_features: int, out_features: int) -> None:
        super().__init__()
        print("a block is made")
        self.fc1, self.fc2 = nn.Linear(in_features, hidden_features), nn.Linear(hidden_features, out_features)

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape (batch, tokens, channels)."""
        print("a block is run")
        y: Tensor = self.fc2(self.fc1(x))
        return y


class OneChannel(nn.Module):
    """A block whose output has one channel, which a sum with the input would hide."""

    def __init__(self, in_features: int) -> None:
        super().__init__()
        self.fc = nn.Linear(in_features, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Lose all channels but one."""
        y: Tensor = self.fc(x)
        return y


class Failing(ForTokens):
    """A block that fails under one answer, in its forward pass."""

    axes: ClassVar = {"works": ("yes", "no")}

    def __init__(self, in_features: int, hidden_features: int, out_features: int, works: str) -> None:
        super().__init__(in_features, hidden_features, out_features)
        self.works = works

    def forward(self, x: Tensor) -> Tensor:
        """Fail, or keep the shape."""
        if self.works == "no":
            raise ValueError("it does not work")
        return super().forward(x)


def halved(in_features: int, **_: object) -> nn.Module:
    """Return a layer with half the channels inside, whatever the MLP has."""
    return nn.Sequential(nn.Linear(in_features, in_features // 2), nn.Linear(in_features // 2, in_features))


def number(in_features: int) -> int:
    """Return what is not a module."""
    return in_features


def leave(in_features: int) -> None:
    """End the process."""
    os._exit(7)
