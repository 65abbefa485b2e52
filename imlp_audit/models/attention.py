"""Self-attention, as Transformers have it (arXiv 1706.03762, Sec. 3.2; ViT, arXiv 2010.11929, Appendix A)."""

from __future__ import annotations

from torch import Tensor, nn


class SelfAttention(nn.Module):
    """softmax(q k^T / sqrt(head width)) v in each head, then a projection; queries, keys and values from one layer.

    Maps (batch, S, C) to the same shape; `heads` divides C.
    """

    def __init__(self, channels: int, heads: int = 1, *, bias: bool = True) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(channels, 3 * channels, bias=bias)
        self.proj = nn.Linear(channels, channels, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (self._by_head(part) for part in self.qkv(x).chunk(3, dim=-1))
        weights = (q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5).softmax(dim=-1)
        y: Tensor = self.proj((weights @ v).transpose(1, 2).flatten(2))
        return y

    def _by_head(self, x: Tensor) -> Tensor:
        """Map (batch, S, C) to (batch, heads, S, C / heads)."""
        return x.reshape(*x.shape[:2], self.heads, -1).transpose(1, 2)
