"""Self-attention with two heads: the package's module, and its formula."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

import torch
from torch import Tensor

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.functions_softmax import softmax
from imlp_audit.equations.matrix import RoundedMatrix, add
from imlp_audit.equations.rounded import Rounded
from imlp_audit.equations.strategies import Matrix, Vector, matrices, plain, vectors
from imlp_audit.models.attention import SelfAttention

from ._layer import Values, loaded

HEADS = 2


@dataclass(frozen=True)
class Attention:
    """x (patches x d), the weights of queries, keys and values (d x d each) with a bias, and of the projection."""

    x: Matrix
    q: Matrix
    k: Matrix
    v: Matrix
    out: Matrix
    qkv_bias: tuple[Vector, Vector, Vector]
    bias: Vector

    def sizes(self) -> Mapping[str, int]:
        """Return d, the patches and the heads."""
        return {"d": len(self.x[0]), "N^2": len(self.x), "head": HEADS}

    def output(self, arithmetic: Arithmetic) -> Tensor:
        """Return what the package's attention makes of x, the second of a batch of two."""
        first, second, third = self.qkv_bias
        weights: dict[str, Values] = {"qkv.weight": self.q + self.k + self.v, "qkv.bias": first + second + third}
        weights |= {"proj.weight": self.out, "proj.bias": self.bias}
        attention = loaded(SelfAttention(len(self.x[0]), HEADS), weights, arithmetic)
        x = arithmetic.tensor(self.x)
        y: Tensor = attention(torch.stack((x.flip(0) + 1, x)))[1]
        return y

    def printed(self, arithmetic: Arithmetic) -> RoundedMatrix:
        """Return, for each head, softmax(q k' / sqrt(d / heads)) v, one after the other, projected."""
        x = arithmetic.matrix(self.x)
        parts = (self.q, self.k, self.v)
        q, k, v = (_affine(x, w, b, arithmetic) for w, b in zip(parts, self.qkv_bias, strict=True))
        width = len(self.x[0]) // HEADS
        heads = [slice(width * head, width * (head + 1)) for head in range(HEADS)]
        mixed = [_mixed(*(RoundedMatrix(row[head] for row in part) for part in (q, k, v))) for head in heads]
        joined = RoundedMatrix([entry for row in rows for entry in row] for rows in zip(*mixed, strict=True))
        return _affine(joined, self.out, self.bias, arithmetic)

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        weights = {"W_q": self.q, "W_k": self.k, "W_v": self.v, "W_out": self.out}
        return {"x": self.x, **weights, "b_q, b_k, b_v": self.qkv_bias, "b_out": self.bias}


def _affine(x: RoundedMatrix, weight: Matrix, bias: Vector, arithmetic: Arithmetic) -> RoundedMatrix:
    return (x @ arithmetic.matrix(weight).T).map_rows(lambda row: add(row, arithmetic.vector(bias)))


def _mixed(q: RoundedMatrix, k: RoundedMatrix, v: RoundedMatrix) -> RoundedMatrix:
    root = 1 / sqrt(len(q[0]))
    scale = Rounded(root, root, 12, 0.0, q[0][0].unit)  # a root and a division of 2 u at most each, of q and of k
    return (q @ k.T).map(lambda entry: entry * scale).map_rows(softmax) @ v


def attentions(channels: int = 4) -> st.Strategy[Attention]:
    """Attentions over two or three patches; with large numbers the bound of softmax says nothing."""
    square, pair = matrices(channels, channels), vectors(channels)

    def of(patches: int) -> st.Strategy[Attention]:
        return st.builds(
            Attention, matrices(patches, channels), square, square, square, square, st.tuples(pair, pair, pair), pair
        )

    return plain(st.integers(2, 3).flatmap(of))
