"""Sec. 1: what efficient self-attention operations cost."""

from functools import cmp_to_key, partial
from math import ceil, log2
from random import Random

import torch
from hypothesis.strategies import integers
from timm.models.vision_transformer import Attention
from torch import Tensor, nn

from imlp_audit.claims import Sides, below, claim, macs


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


@claim(
    n=integers(1, 16),
    heads=integers(1, 3),
    head_width=integers(1, 8),
    place="Sec. 1",
    printed="Efficient self-attention operations reduce computational complexity of previous self-attention operation "
    "from O(n^2) to O(n)",
)
def complexity_attention_quadratic(n: int, heads: int, head_width: int) -> Sides:
    """Plain self-attention does 4 n C^2 + 2 n^2 C multiply-accumulates on n tokens of width C: quadratic in n.

    For every number of heads that divides C.
    """
    C = heads * head_width
    return macs(partial(Attention, C, heads), 1, n, C), 4 * n * C**2 + 2 * n**2 * C


@claim(
    n=integers(1, 16),
    C=integers(1, 8),
    k=integers(1, 8),
    place="Sec. 1",
    printed="Efficient self-attention operations reduce computational complexity of previous self-attention operation "
    "from O(n^2) to O(n)",
)
def complexity_attention_linear(n: int, C: int, k: int) -> Sides:
    """Self-attention whose keys and values are projected to k tokens does 4 n C^2 + 4 n k C multiply-accumulates on n
    tokens of width C: linear in n for every k that does not grow with n.

    Read as: the attention of Linformer (Wang et al., 2020), with one head.
    """
    return macs(partial(ProjectedAttention, n, C, k), 1, n, C), 4 * n * C**2 + 4 * n * k * C


@claim(
    chunks=integers(1, 8),
    m=integers(1, 8),
    C=integers(1, 8),
    seed=integers(0, 1000),
    place="Sec. 1",
    printed="Efficient self-attention operations reduce computational complexity of previous self-attention operation "
    "from O(n^2) to O(n log(n))",
)
def complexity_attention_sorted(chunks: int, m: int, C: int, seed: int) -> Sides:
    """Self-attention within chunks of m tokens, sorted by their hash, does 3 n C^2 + 4 n m C multiply-accumulates on n
    tokens of width C, and the sort takes at most n log2(n) comparisons, rounded up: O(n log n) for every m that does
    not grow with n.

    Read as: the attention of Reformer (Kitaev et al., 2020), with one head and one round of hashes; what the hashes
    themselves cost is left out.
    """
    n = chunks * m
    counted = macs(partial(ChunkedAttention, C, m), 1, n, C)
    compared: list[int] = []

    def compare(one: int, other: int) -> int:
        compared.append(one)
        return one - other

    sorted(Random(seed).sample(range(n), n), key=cmp_to_key(compare))  # the hashes
    return [(counted, 3 * n * C**2 + 4 * n * m * C), below(len(compared), n * ceil(log2(n)))]
