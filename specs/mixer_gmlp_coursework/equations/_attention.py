"""The tiny attention of aMLP: an input and its weights, the package's module with them, and the pseudo-code printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

from torch import Tensor

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.functions_softmax import softmax
from imlp_audit.equations.matrix import RoundedMatrix, add
from imlp_audit.equations.mixer import fill
from imlp_audit.equations.rounded import Rounded
from imlp_audit.equations.strategies import Matrix, Vector, matrices, vectors
from imlp_audit.models.gmlp import TinyAttention

from ._gmlp import transposed


@dataclass(frozen=True)
class Attention:
    """x (n tokens of some channels), the weights of q, k, v (channels x d_attn each) and of the output, its bias."""

    x: Matrix
    q: Matrix
    k: Matrix
    v: Matrix
    out: Matrix
    bias: Vector

    @property
    def d_attn(self) -> int:
        """The width of queries, keys and values."""
        return len(self.out)

    def sizes(self) -> Mapping[str, int]:
        """Return the numbers of tokens and channels, and the widths by the pseudo-code's names."""
        return {"S": len(self.x), "C": len(self.x[0]), "d_attn": self.d_attn, "d_out": len(self.bias)}

    def module(self, arithmetic: Arithmetic) -> TinyAttention:
        """Return the package's attention with these weights."""
        width, d_out, d_attn = len(self.x[0]), len(self.bias), self.d_attn
        qkv = transposed(self.q) + transposed(self.k) + transposed(self.v)
        weights: dict[str, object] = {"qkv.weight": qkv, "qkv.bias": (0.0,) * 3 * d_attn}
        weights |= {"out.weight": transposed(self.out), "out.bias": self.bias}
        return fill(lambda: TinyAttention(width, d_out, d_attn), weights, arithmetic)

    def output(self, arithmetic: Arithmetic) -> Tensor:
        """Return what the package's attention makes of x."""
        output: Tensor = self.module(arithmetic)(arithmetic.tensor(self.x)[None])[0]
        return output

    def parts(self, arithmetic: Arithmetic) -> tuple[RoundedMatrix, RoundedMatrix, RoundedMatrix]:
        """Return q, k and v: the three thirds of proj(x, 3 * d_attn)."""
        x = arithmetic.matrix(self.x)
        q, k, v = (x @ arithmetic.matrix(weight) for weight in (self.q, self.k, self.v))
        return q, k, v

    def a(self, arithmetic: Arithmetic) -> RoundedMatrix:
        """Return softmax(w * rsqrt(d_attn)) over m, with w_{nm} = sum_d q_{nd} k_{md}."""
        q, k, _ = self.parts(arithmetic)
        scale = reciprocal_root(self.d_attn, arithmetic.unit)
        return (q @ k.T).map(lambda entry: entry * scale).map_rows(softmax)

    def printed(self, arithmetic: Arithmetic) -> RoundedMatrix:
        """Return proj(sum_m a_{nm} v_{md}, d_out)."""
        _, _, v = self.parts(arithmetic)
        mixed = self.a(arithmetic) @ v @ arithmetic.matrix(self.out)
        return mixed.map_rows(lambda row: add(row, arithmetic.vector(self.bias)))

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        weights = {"W_q": self.q, "W_k": self.k, "W_v": self.v, "W_out": self.out, "b_out": self.bias}
        return {"x": self.x, **weights}


def reciprocal_root(number: int, unit: float) -> Rounded:
    """Return 1 / sqrt(number).

    It takes 2 roundings of at most 2 u each; torch's own attention multiplies q and k by its root each, which makes
    no more than 12.
    """
    value = 1 / sqrt(number)
    return Rounded(value, value, 12, 0.0, unit)


def attentions(tokens: int = 3, widths: st.Strategy[int] | None = None) -> st.Strategy[Attention]:
    """Attentions over up to `tokens` tokens, of widths 1 and 2; `widths` are those of queries, keys and values."""

    def of_sizes(size: tuple[int, int, int, int]) -> st.Strategy[Attention]:
        n, width, d_attn, d_out = size
        parts = [matrices(width, d_attn)] * 3
        return st.builds(Attention, matrices(n, width), *parts, matrices(d_attn, d_out), vectors(d_out))

    small = st.integers(1, 2)
    return st.tuples(st.integers(1, tokens), small, widths or small, small).flatmap(of_sizes)
