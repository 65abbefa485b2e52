"""A gMLP, tMLP or aMLP block of any kind written out: every gate, both matrices W, attention or none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from imlp_audit.equations.functions import gelu
from imlp_audit.equations.functions_softmax import softmax
from imlp_audit.equations.matrix import RoundedMatrix
from imlp_audit.models.blocks import Gate
from imlp_audit.models.reading import SpatialMatrix

from ._attention import reciprocal_root
from ._gmlp import project
from ._weights import Formulas, Shapes, linear, norm, settled

GATE_EPSILON = 1e-5  # torch's, of the norm inside the gate


@dataclass(frozen=True)
class BlockKind:
    """S, C and D_C, what s(Z) is, the first norm's epsilon, the kind of W, aMLP's d_attn, whether f reads a norm."""

    tokens: int
    width: int
    hidden: int
    gate: Gate
    epsilon: float
    matrix: SpatialMatrix = SpatialMatrix.FULL
    attention: int | None = None
    gate_norm: bool = True

    @property
    def gated(self) -> int:
        """The channels that go into f: all, or one half."""
        return self.hidden // 2 if self.gate is Gate.SPLIT else self.hidden

    def shapes(self, name: str) -> Shapes:
        """Return the shapes of all parameters."""
        s, full = self.tokens, self.matrix is SpatialMatrix.FULL
        shapes: Shapes = {f"{name}.sgu.proj.weight": (s, s) if full else (2 * s - 1,), f"{name}.sgu.proj.bias": (s,)}
        shapes |= norm(f"{name}.norm", self.width) | linear(f"{name}.u", self.width, self.hidden)
        shapes |= linear(f"{name}.v", self.gated, self.width)
        if self.gate_norm:
            shapes |= norm(f"{name}.sgu.norm", self.gated)
        if self.attention is not None:
            shapes |= linear(f"{name}.attention.qkv", self.width, 3 * self.attention)
            shapes |= linear(f"{name}.attention.out", self.attention, self.gated)
        return shapes

    def printed(self, name: str, of: Formulas, x: RoundedMatrix) -> RoundedMatrix:
        """Return s(Z) V + X, Z = GELU(norm(X) U), with biases."""
        normal = of.norm(x, f"{name}.norm", self.epsilon)
        z = of.affine(normal, f"{name}.u").map(gelu)
        f = self._f(z.map_rows(lambda row: row[-self.gated :]), name, of)
        if self.attention is not None:
            f = f + self._attention(normal, self.attention, f"{name}.attention", of)
        s = settled(self._s(z.map_rows(lambda row: row[: self.gated]), f))
        return settled(of.affine(s, f"{name}.v") + x)

    def _f(self, z: RoundedMatrix, name: str, of: Formulas) -> RoundedMatrix:
        """Return W norm(Z) + b, one bias for each token."""
        normal = of.norm(z, f"{name}.sgu.norm", GATE_EPSILON) if self.gate_norm else z
        return settled(project(self._w(f"{name}.sgu.proj.weight", of), of.vector(f"{name}.sgu.proj.bias"), normal))

    def _w(self, name: str, of: Formulas) -> RoundedMatrix:
        """Return W; with a Toeplitz matrix, W_{ij} = w_{i-j} of the weights w_{1-S}, ..., w_{S-1}."""
        if self.matrix is SpatialMatrix.FULL:
            return of.matrix(name)
        w, s = of.vector(name), self.tokens
        return RoundedMatrix([w[i - j + s - 1] for j in range(s)] for i in range(s))

    def _s(self, z: RoundedMatrix, f: RoundedMatrix) -> RoundedMatrix:
        match self.gate:
            case Gate.LINEAR:
                return f
            case Gate.SUM:
                return z + f
            case Gate.PRODUCT | Gate.SPLIT:
                return z * f
            case _:
                assert_never(self.gate)

    def _attention(self, x: RoundedMatrix, d_attn: int, name: str, of: Formulas) -> RoundedMatrix:
        """Return the tiny attention of Fig. 4: softmax(q k' / sqrt(d_attn)) v, projected."""
        thirds = of.affine(x, f"{name}.qkv").T
        q, k, v = (RoundedMatrix(thirds[third * d_attn : (third + 1) * d_attn]).T for third in range(3))
        scale = reciprocal_root(d_attn, of.arithmetic.unit)
        a = (q @ k.T).map(lambda entry: entry * scale).map_rows(softmax)
        return of.affine(settled(a @ v), f"{name}.out")
