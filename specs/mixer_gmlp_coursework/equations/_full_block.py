"""A gMLP or aMLP block with everything in it: norms and biases, and the tiny attention that aMLP adds to the gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.functions_norm import layer_norm
from imlp_audit.equations.functions_softmax import softmax
from imlp_audit.equations.matrix import RoundedMatrix, add
from imlp_audit.equations.mixer import fill
from imlp_audit.equations.strategies import NUMBERS, Matrix, Vector, matrices, nonzero, vectors
from imlp_audit.models.blocks import Gate
from imlp_audit.models.gmlp import GmlpBlock

from ._gmlp import project, transposed

_EPS = 1e-5  # of torch's LayerNorm


@dataclass(frozen=True)
class Affine:
    """A matrix (in x out) and a bias; or of a LayerNorm, one row of weights and a bias."""

    weight: Matrix
    bias: Vector

    def of(self, x: RoundedMatrix, arithmetic: Arithmetic) -> RoundedMatrix:
        """Return x weight + bias, row by row."""
        return (x @ arithmetic.matrix(self.weight)).map_rows(lambda row: add(row, arithmetic.vector(self.bias)))

    def normalised(self, x: RoundedMatrix, arithmetic: Arithmetic) -> RoundedMatrix:
        """Return LayerNorm of each row."""
        weight, bias = arithmetic.vector(self.weight[0]), arithmetic.vector(self.bias)
        return x.map_rows(lambda row: layer_norm(row, _EPS, weight, bias))


@dataclass(frozen=True)
class FullBlock:
    """X (S x C), the norm before U, U (C x 4), the norm of Z_2, W and b, V (2 x C), and the attention, d_attn = 1."""

    x: Matrix
    norm: Affine
    u: Affine
    gate_norm: Affine
    w: Matrix
    b: Vector
    v: Affine
    qkv: Affine
    out: Affine

    def sizes(self) -> Mapping[str, int]:
        """Return the sizes by the paper's symbols."""
        return {"S": len(self.x), "C": len(self.x[0]), "D_C": len(self.u.bias)}

    def output(self, arithmetic: Arithmetic, *, attention: bool) -> Tensor:
        """Return what the package's block makes of X, the second of a batch of two."""
        weights: dict[str, object] = {"sgu.proj.weight": self.w, "sgu.proj.bias": self.b}
        for name, norm in (("norm", self.norm), ("sgu.norm", self.gate_norm)):
            weights |= {f"{name}.weight": norm.weight[0], f"{name}.bias": norm.bias}
        layers = {"u": self.u, "v": self.v} | (
            {"attention.qkv": self.qkv, "attention.out": self.out} if attention else {}
        )
        for name, layer in layers.items():
            weights |= {f"{name}.weight": transposed(layer.weight), f"{name}.bias": layer.bias}
        tokens, width, hidden = len(self.x), len(self.x[0]), len(self.u.bias)
        d_attn = 1 if attention else None
        block = fill(lambda: GmlpBlock(width, hidden, tokens, Gate.SPLIT, d_attn=d_attn), weights, arithmetic)
        x = arithmetic.tensor(self.x)
        y: Tensor = block(torch.stack((x.flip(0) + 1, x)))[1]
        return y

    def printed(self, arithmetic: Arithmetic, *, attention: bool) -> RoundedMatrix:
        """Return (Z_1 * (f(norm(Z_2)) + attention(norm(X)))) V + X, Z = GELU(norm(X) U)."""
        x = arithmetic.matrix(self.x)
        normal = self.norm.normalised(x, arithmetic)
        z = self.u.of(normal, arithmetic).map(gelu)
        half = len(z[0]) // 2
        z1, z2 = RoundedMatrix(row[:half] for row in z), RoundedMatrix(row[half:] for row in z)
        gated = self.gate_norm.normalised(z2, arithmetic)
        gate = project(arithmetic.matrix(self.w), arithmetic.vector(self.b), gated)
        if attention:
            gate = gate + self._attention(normal, arithmetic)
        return self.v.of(z1 * gate, arithmetic) + x

    def _attention(self, x: RoundedMatrix, arithmetic: Arithmetic) -> RoundedMatrix:
        q, k, v = (RoundedMatrix([entry] for entry in column) for column in self.qkv.of(x, arithmetic).T)
        return self.out.of((q @ k.T).map_rows(softmax) @ v, arithmetic)

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {"X": self.x, "W": self.w, "b": self.b, "U": self.u, "V": self.v, "norms": (self.norm, self.gate_norm)}


def _affines(width: int, out: int) -> st.Strategy[Affine]:
    return st.builds(Affine, matrices(width, out, nonzero()), vectors(out))


def full_blocks(row: st.Strategy[Vector] | None = None) -> st.Strategy[FullBlock]:
    """Blocks of two or three tokens, C = 2 and D_C = 4; each token's channels differ, or rounding may decide.

    With `row` the tokens are any that it makes.
    """
    row = row or st.permutations(NUMBERS).map(lambda numbers: tuple(numbers[:2]))

    def of(tokens: int) -> st.Strategy[FullBlock]:
        return st.builds(
            FullBlock, st.tuples(*[row] * tokens), _affines(1, 2), _affines(2, 4), _affines(1, 2),
            matrices(tokens, tokens), vectors(tokens), _affines(2, 2), _affines(2, 3), _affines(1, 2),
        )  # fmt: skip

    return st.integers(2, 3).flatmap(of)
