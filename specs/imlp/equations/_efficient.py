"""The two efficient self-attention operations that the introduction cites, in one head, without their numbers."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class ProjectedAttention(nn.Module):
    """Linformer (arXiv 2006.04768, Eq. 7): keys and values of n tokens are projected to k, by E and F (k x n).

    Maps (batch, n, C) to the same shape.
    """

    def __init__(self, tokens: int, width: int, projected: int) -> None:
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.e, self.f = (nn.Linear(tokens, projected, bias=False) for _ in range(2))
        self.proj = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape."""
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        weights = (q @ self.e(k.mT) * q.shape[-1] ** -0.5).softmax(dim=-1)
        y: Tensor = self.proj(weights @ self.f(v.mT).mT)
        return y


class ChunkedAttention(nn.Module):
    """Reformer (arXiv 2001.04451, Sec. 2): tokens sorted by their hash attend to their own chunk and to the one before.

    Maps (batch, n, C), sorted, to the same shape; queries are keys, and the chunk divides n.
    """

    def __init__(self, width: int, chunk: int) -> None:
        super().__init__()
        self.chunk = chunk
        self.qk, self.v, self.proj = (nn.Linear(width, width) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        """Keep the shape."""
        q, v = (layer(x).unflatten(1, (-1, self.chunk)) for layer in (self.qk, self.v))
        keys, values = (torch.cat((each.roll(1, dims=1), each), dim=2) for each in (q, v))
        weights = (q @ keys.mT * q.shape[-1] ** -0.5).softmax(dim=-1)
        y: Tensor = self.proj((weights @ values).flatten(1, 2))
        return y
