"""The block of the authors' released IFFN code, stated again from its description: the test's second opinion.

Weight names are the released ones (conv1, act1.move1.scale, ...); the layout is (batch, tokens, channels) with
the tokens on a square grid and no class token.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Move(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1, 1, channels))
        self.bias = nn.Parameter(torch.zeros(1, 1, channels))


class Act(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.move1, self.move2 = Move(channels), Move(channels)

    def forward(self, x: Tensor) -> Tensor:
        bent = F.gelu(self.move1.scale * x + self.move1.bias)
        return self.move2.scale * bent + self.move2.bias


class ReleasedBlock(nn.Module):
    def __init__(self, width: int, hidden: int, kernel: int) -> None:
        super().__init__()
        inner = 2 * hidden
        self.conv1, self.conv2 = nn.Linear(width, hidden), nn.Linear(inner, width)
        self.act1, self.act2 = Act(hidden), Act(hidden)
        self.ln1, self.ln2 = nn.LayerNorm(inner), nn.LayerNorm(width)
        self.dw = nn.Conv2d(inner, inner, kernel, padding=kernel // 2, groups=inner)
        self.ln = nn.BatchNorm2d(inner)

    def forward(self, x: Tensor) -> Tensor:
        batch, tokens, _ = x.shape
        side = int(tokens**0.5)
        h = self.conv1(x)
        h = self.ln1(torch.cat([self.act1(h), self.act2(h)], 2))
        grid = h.transpose(1, 2).reshape(batch, -1, side, side)
        grid = grid + F.gelu(self.ln(self.dw(grid)))
        out: Tensor = self.ln2(self.conv2(grid.reshape(batch, -1, tokens).transpose(1, 2)))
        return out


OURS = {
    "conv1": "fc1", "conv2": "fc2", "ln1": "act.norm", "ln2": "norm", "dw": "spatial.conv", "ln": "spatial.norm",
    "act1.move1.scale": "act.agelu1.alpha", "act1.move1.bias": "act.agelu1.gamma",
    "act1.move2.scale": "act.agelu1.beta", "act1.move2.bias": "act.agelu1.theta",
    "act2.move1.scale": "act.agelu2.alpha", "act2.move1.bias": "act.agelu2.gamma",
    "act2.move2.scale": "act.agelu2.beta", "act2.move2.bias": "act.agelu2.theta",
}  # fmt: skip


def renamed(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """A released state under our names."""
    result = {}
    for name, value in state.items():
        prefix = next(p for p in sorted(OURS, key=len, reverse=True) if name == p or name.startswith(f"{p}."))
        result[OURS[prefix] + name.removeprefix(prefix)] = value.flatten() if "move" in name else value
    return result
