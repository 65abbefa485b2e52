"""The AMLP module of Theorem 1 between two inputs, every symbol as the theorem and its proof name it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.lipschitz import slopes
from imlp_audit.equations.lipschitz.branches import Branch
from imlp_audit.equations.lipschitz.certificate import Certificate, prove
from imlp_audit.equations.lipschitz.slopes import Slopes
from imlp_audit.equations.matrix import RoundedMatrix, dot
from imlp_audit.equations.rounded import Number, Rounded, total
from imlp_audit.equations.strategies import Matrix, Vector, matrices, nonzero, numbers, plain, positive, vectors
from imlp_audit.models.imlp import ChannelPart, Imlp, amlp

from ._agelu import Coefficients, coefficients, with_bounds
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

    @property
    def chosen_t(self) -> list[float]:
        """A T that has a rho with M(rho, T) <= 0: what is best for one hidden unit, or more of it where `t` is over 1.

        With omega = ||W^1i||^2, rho = (max(|p|, |q|) ||W^0||)^2 omega is least there, the product of the norms.
        """
        p, q = self.slopes.low, self.slopes.high
        omega = float(np.linalg.norm(self.w1, 2)) ** 2
        best = omega * (1 + abs(p + q) / (q - p)) / 2
        return [best * max(1.0, entry) for entry in self.t]


@dataclass(frozen=True)
class Module:
    """Two inputs of n_0 numbers, W^0 (n x n_0) and b^0, and both halves with m outputs."""

    x: Vector
    y: Vector
    w0: Matrix
    b0: Vector
    halves: tuple[Half, Half]

    def sizes(self) -> Mapping[str, int]:
        """Return n_0, n and m."""
        return {"n_0": len(self.x), "n": len(self.w0), "m": len(self.w1)}

    def hidden(self, x: Vector, arithmetic: Arithmetic) -> list[Rounded]:
        """Return W^0 x + b^0."""
        return affine(self.w0, arithmetic.vector(x), self.b0)

    def activated(self, i: int, x: Vector, arithmetic: Arithmetic) -> list[Rounded]:
        """Return phi_i(W^0 x + b^0), as the package's AGeLU has it."""
        return self.halves[i].phi.computed(self.hidden(x, arithmetic), gelu, arithmetic)

    def printed(self, i: int, x: Vector, arithmetic: Arithmetic) -> list[Rounded]:
        """Return phi_i(W^0 x + b^0), as Eq. 4 has it."""
        return self.halves[i].phi.repeated(len(self.w0)).written(self.hidden(x, arithmetic), gelu)

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

    def change(self, arithmetic: Arithmetic) -> list[Rounded]:
        """Return f(x) - f(y), as the package's module has it."""
        f = self.built(self.w1, arithmetic)
        x, y = f(arithmetic.tensor([self.x, self.y])).tolist()
        bounds = [g + h for g, h in zip(*(self.change_in(i, arithmetic) for i in (0, 1)), strict=True)]
        return with_bounds([of_x - of_y for of_x, of_y in zip(x, y, strict=True)], bounds)

    @property
    def w1(self) -> list[Vector]:
        """W^1 = [W^11 W^12]."""
        return [a + b for a, b in zip(*(half.w1 for half in self.halves), strict=True)]

    def built(self, w1: Sequence[Vector], arithmetic: Arithmetic) -> Imlp:
        """Return the package's module with these weights, W^1 and b^11."""
        module = amlp(len(self.x), len(self.w0), len(w1))
        arithmetic.place(module)
        assert isinstance(module.act, ChannelPart)
        first, second = {"weight": self.w0, "bias": self.b0}, {"weight": w1, "bias": self.halves[0].b1}
        for layer, numbers_of_layer in ((module.fc1, first), (module.fc2, second)):
            for name, values in numbers_of_layer.items():
                arithmetic.put(layer, name, values)
        for agelu, half in zip((module.act.agelu1, module.act.agelu2), self.halves, strict=True):
            half.phi.load_into(agelu, arithmetic)
        return module

    def change_of_input(self, arithmetic: Arithmetic) -> list[Rounded]:
        """Return x - y."""
        return difference(arithmetic.vector(self.x), arithmetic.vector(self.y))

    def changes(self, i: int, arithmetic: Arithmetic) -> list[Rounded]:
        """Return [x - y; x^1 - y^1]."""
        return [*self.change_of_input(arithmetic), *self.change_of_activated(i, arithmetic)]

    def blocks_of_13(self, i: int, arithmetic: Arithmetic, t: Sequence[float] | None = None) -> Blocks:
        """Return [[-2 p q W^0' T W^0, (p + q) W^0' T], [(p + q) T W^0, -2 T]], by default with the half's own T."""
        half = self.halves[i]
        diag = diagonal(half.t if t is None else t, arithmetic)
        return eq13_blocks(arithmetic.matrix(self.w0), diag, half.slopes.low, half.slopes.high)

    def blocks_of_15(self, i: int, arithmetic: Arithmetic, rho: float) -> Blocks:
        """Return [[rho I, 0], [0, -W^1i' W^1i]]."""
        w1, width, hidden = arithmetic.matrix(self.halves[i].w1), len(self.x), len(self.w0)
        zero = arithmetic.matrix([[0.0] * hidden] * width)
        gram = (w1.T @ w1).scale(-1)
        return [[diagonal([rho] * width, arithmetic), zero], [zero.T, gram]]

    @cached_property
    def own_ts(self) -> tuple[Certificate, Certificate]:
        """A T_i for each half, and a proven rho_i."""
        first, second = (self._certificate(half, half.chosen_t) for half in self.halves)
        return first, second

    @cached_property
    def one_t(self) -> tuple[Certificate, Certificate]:
        """One T for both halves, and proven rho_1 and rho_2."""
        t = [max(each) for each in zip(*(half.chosen_t for half in self.halves), strict=True)]
        first, second = (self._certificate(half, t) for half in self.halves)
        return first, second

    def _certificate(self, half: Half, t: Sequence[float]) -> Certificate:
        branch = Branch(inner=np.array(self.w0), shift=np.array(self.b0), outer=np.array(half.w1))
        proven = prove(branch, np.array(t), half.slopes)
        assert proven is not None, "a T above half the squared norm of W^1i always has a rho"
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


def lemma1_blocks(t: RoundedMatrix, p: Number, q: Number) -> Blocks:
    """Return [[-2 p q T, (p + q) T], [(p + q) T, -2 T]]."""
    return [[t.scale(-2 * (p * q)), t.scale(p + q)], [t.scale(p + q), t.scale(-2)]]


def eq13_blocks(w0: RoundedMatrix, t: RoundedMatrix, p: Number, q: Number) -> Blocks:
    """Return [[-2 p q W^0' T W^0, (p + q) W^0' T], [(p + q) T W^0, -2 T]]."""
    side = (t @ w0).scale(p + q)
    return [[(w0.T @ (t @ w0)).scale(-2 * (p * q)), side.T], [side, t.scale(-2)]]


def diagonal(entries: Sequence[float], arithmetic: Arithmetic) -> RoundedMatrix:
    """Return T = sum_i lambda_ii e_i e_i' (Eq. 8)."""
    size = len(entries)
    return arithmetic.matrix([[entries[i] if i == j else 0 for j in range(size)] for i in range(size)])


def first_false(trials: Iterable[Trial]) -> Trial:
    """Return the first trial that does not hold, or one that does."""
    each = list(trials)
    return next((trial for trial in each if not trial.holds), each[0])


def modules() -> st.Strategy[Module]:
    """Modules with n_0 and m up to 2 and n up to 3, and some whose slope is nearly the steepest."""
    return st.one_of(any_modules(), steep_modules())


def any_modules() -> st.Strategy[Module]:
    """Modules with n_0 and m up to 2 and n up to 3."""
    sizes = st.tuples(st.integers(1, 2), st.integers(1, 3), st.integers(1, 2))
    return sizes.flatmap(lambda size: modules_of(*size))


@cache
def modules_of(width: int, hidden: int, outputs: int) -> st.Strategy[Module]:
    """Modules of n_0, n and m; the inputs differ. A T that is near its optimum is found for plain numbers only."""
    half = st.builds(
        Half, coefficients(1), matrices(outputs, hidden, nonzero()), vectors(outputs), vectors(hidden, positive())
    )
    weights = matrices(hidden, width, nonzero())
    built = st.builds(Module, vectors(width), vectors(width), weights, vectors(hidden), st.tuples(half, half))
    return plain(built.filter(lambda module: module.x != module.y))


@cache
def steep_modules() -> st.Strategy[Module]:
    """Modules of one number at each place; between x and y both halves rise together, about as steeply as they can."""
    numbers_of_half = st.tuples(nonzero(), nonzero(), positive(), numbers())
    return plain(st.builds(_steep, numbers(), nonzero(), numbers(), numbers_of_half, numbers_of_half))


def _steep(x: float, w0: float, b0: float, *halves: tuple[float, float, float, float]) -> Module:
    step = 0.125
    middle = w0 * (x + step / 2) + b0

    def half(alpha: float, beta: float, w1: float, b1: float) -> Half:
        sign = 1.0 if alpha * beta > 0 else -1.0
        phi = Coefficients((alpha,), (beta,), (1.40625 - alpha * middle,), (0.0,))  # GeLU is steepest at sqrt 2
        return Half(phi, ((sign * w1,),), (b1,), (1.0,))

    first, second = (half(*each) for each in halves)
    return Module((x,), (x + step,), ((w0,),), (b0,), (first, second))
