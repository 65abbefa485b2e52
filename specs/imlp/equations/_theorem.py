"""The AMLP module of Theorem 1 between two inputs, every symbol as the theorem and its proof name it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.lipschitz import slopes
from imlp_audit.equations.lipschitz.branches import Branch
from imlp_audit.equations.lipschitz.certificate import Certificate, certify
from imlp_audit.equations.lipschitz.slopes import Slopes
from imlp_audit.equations.matrix import RoundedMatrix, dot
from imlp_audit.equations.rounded import Rounded, total
from imlp_audit.equations.strategies import Matrix, Vector, matrices, nonzero, positive, vectors

from ._agelu import Coefficients, coefficients
from ._slope import slopes_of

Column = Sequence[Rounded]
Blocks = Sequence[Sequence[RoundedMatrix]]


@dataclass(frozen=True)
class Half:
    """One of phi_1 and phi_2, with W^1i, b^1i and the diagonal of a T that Eq. 8 allows."""

    phi: Coefficients
    w1: Matrix
    b1: Vector
    t: Vector

    @property
    def slopes(self) -> Slopes:
        """[p_i, q_i]."""
        return slopes_of(self.phi, slopes.GELU)


@dataclass(frozen=True)
class Module:
    """Two inputs of n_0 numbers, W^0 (n x n_0) and b^0, and both halves with m outputs."""

    x: Vector
    y: Vector
    w0: Matrix
    b0: Vector
    halves: tuple[Half, Half]

    def hidden(self, x: Vector, arithmetic: Arithmetic) -> list[Rounded]:
        """Return W^0 x + b^0."""
        return affine(self.w0, arithmetic.vector(x), self.b0)

    def activated(self, i: int, x: Vector, arithmetic: Arithmetic) -> list[Rounded]:
        """Return phi_i(W^0 x + b^0)."""
        phi = self.halves[i].phi
        return [phi.written([z], gelu)[0] for z in self.hidden(x, arithmetic)]

    def part(self, i: int, x: Vector, arithmetic: Arithmetic) -> list[Rounded]:
        """Return g(x), the first summand of f, or h(x), the second."""
        half = self.halves[i]
        return affine(half.w1, self.activated(i, x, arithmetic), half.b1)

    def change_in(self, i: int, arithmetic: Arithmetic) -> list[Rounded]:
        """Return g(x) - g(y), or h(x) - h(y)."""
        return difference(self.part(i, self.x, arithmetic), self.part(i, self.y, arithmetic))

    def change_of_activated(self, i: int, arithmetic: Arithmetic) -> list[Rounded]:
        """Return x^1 - y^1."""
        return difference(self.activated(i, self.x, arithmetic), self.activated(i, self.y, arithmetic))

    def change_of_input(self, arithmetic: Arithmetic) -> list[Rounded]:
        """Return x - y."""
        return difference(arithmetic.vector(self.x), arithmetic.vector(self.y))

    def changes(self, i: int, arithmetic: Arithmetic) -> list[Rounded]:
        """Return [x - y; x^1 - y^1]."""
        return [*self.change_of_input(arithmetic), *self.change_of_activated(i, arithmetic)]

    def blocks_of_13(self, i: int, arithmetic: Arithmetic, t: Sequence[float] | None = None) -> Blocks:
        """Return [[-2 p q W^0' T W^0, (p + q) W^0' T], [(p + q) T W^0, -2 T]], by default with the half's own T."""
        half = self.halves[i]
        p, q, w0 = half.slopes.low, half.slopes.high, arithmetic.matrix(self.w0)
        diag = diagonal(half.t if t is None else t, arithmetic)
        side = (diag @ w0).scale(p + q)
        upper = (w0.T @ (diag @ w0)).scale(-2 * p * q)
        return [[upper, side.T], [side, diag.scale(-2)]]

    def blocks_of_15(self, i: int, arithmetic: Arithmetic) -> Blocks:
        """Return [[rho I, 0], [0, -W^1i' W^1i]] with the proven rho."""
        w1, width, hidden = arithmetic.matrix(self.halves[i].w1), len(self.x), len(self.w0)
        zero = arithmetic.matrix([[0.0] * hidden] * width)
        gram = (w1.T @ w1).scale(-1)
        return [[diagonal([self.certificates[i].rho] * width, arithmetic), zero], [zero.T, gram]]

    @cached_property
    def certificates(self) -> tuple[Certificate, Certificate]:
        """A proven rho_i, and the T near the given one that it is proven for, of each half."""
        first, second = (self._certificate(half) for half in self.halves)
        return first, second

    def _certificate(self, half: Half) -> Certificate:
        w1 = np.array(half.w1)
        branch = Branch(inner=np.array(self.w0), shift=np.array(self.b0), outer=w1)
        enough = float((w1 * w1).sum()) / 2  # 2 T must outweigh W^1i' W^1i
        proven = certify(branch, np.array(half.t) + enough, half.slopes)
        assert proven is not None, "a T above half the squared Frobenius norm of W^1i always has a rho"
        return proven

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        halves = {
            name: value
            for i, half in enumerate(self.halves, start=1)
            for name, value in {
                **half.phi.shown(f"_{i}"), f"W^1{i}": half.w1, f"b^1{i}": half.b1, f"diag T_{i}": half.t
            }.items()
        }  # fmt: skip
        return {"x": self.x, "y": self.y, "W^0": self.w0, "b^0": self.b0, **halves}


def affine(weight: Sequence[Vector], x: Column, bias: Vector) -> list[Rounded]:
    """Return weight x + bias."""
    return [total(w * x_j for w, x_j in zip(row, x, strict=True)) + b_i for row, b_i in zip(weight, bias, strict=True)]


def difference(left: Column, right: Column) -> list[Rounded]:
    """Return left - right."""
    return [one - other for one, other in zip(left, right, strict=True)]


def norm(vector: Column) -> Rounded:
    """Return the Euclidean norm."""
    return dot(vector, vector).square_root()


def form(blocks: Blocks, vector: Column) -> Rounded:
    """Return v' M v of a matrix of 2 x 2 blocks."""
    rows = [[*left, *right] for pair in blocks for left, right in zip(*pair, strict=True)]
    return total(v_i * dot(row, vector) for v_i, row in zip(vector, rows, strict=True))


def diagonal(entries: Sequence[float], arithmetic: Arithmetic) -> RoundedMatrix:
    """Return T = sum_i lambda_ii e_i e_i' (Eq. 8)."""
    size = len(entries)
    return arithmetic.matrix([[entries[i] if i == j else 0 for j in range(size)] for i in range(size)])


def modules() -> st.SearchStrategy[Module]:
    """Modules with n_0 and m up to 2 and n up to 3."""
    sizes = st.tuples(st.integers(1, 2), st.integers(1, 3), st.integers(1, 2))
    return sizes.flatmap(lambda size: modules_of(*size))


@cache
def modules_of(width: int, hidden: int, outputs: int) -> st.SearchStrategy[Module]:
    """Modules of n_0, n and m; the inputs differ."""
    half = st.builds(
        Half, coefficients(1), matrices(outputs, hidden, nonzero()), vectors(outputs), vectors(hidden, positive())
    )
    weights = matrices(hidden, width, nonzero())
    built = st.builds(Module, vectors(width), vectors(width), weights, vectors(hidden), st.tuples(half, half))
    return built.filter(lambda module: module.x != module.y)
