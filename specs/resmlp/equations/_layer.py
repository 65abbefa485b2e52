"""The parts of ResMLP's layer as printed: features are the columns of a d x N^2 matrix."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product as combinations
from typing import TypeVar

from torch import Tensor, nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.draw import Strategy
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.matrix import RoundedMatrix
from imlp_audit.equations.rounded import Rounded
from imlp_audit.equations.strategies import Matrix, Vector, matrices, nonzero, vectors
from imlp_audit.models.resmlp import Aff, EquationLayer

Column = Sequence[Rounded]
Values = Matrix | Vector
Module = TypeVar("Module", bound=nn.Module)
Case = TypeVar("Case")

PATCHES = (1, 4)  # N x N, for N = 1 and 2
WIDTHS = (1, 2)  # d


@dataclass(frozen=True)
class AffCase:
    """The vectors alpha and beta of an Aff."""

    alpha: Vector
    beta: Vector

    def weights(self, prefix: str = "") -> dict[str, Values]:
        """Return them by the names that the module below a prefix gives them."""
        return {f"{prefix}alpha": self.alpha, f"{prefix}beta": self.beta}

    def module(self, arithmetic: Arithmetic) -> Aff:
        """Return the module."""
        return loaded(Aff(len(self.alpha)), self.weights(), arithmetic)

    def of(self, x: Column, arithmetic: Arithmetic) -> list[Rounded]:
        """Return Diag(alpha) x + beta of one column."""
        alpha, beta = arithmetic.vector(self.alpha), arithmetic.vector(self.beta)
        return [alpha[i] * x[i] + beta[i] for i in range(len(x))]


def affs(width: int, beta: Strategy[float] | None = None) -> Strategy[AffCase]:
    """Affs of a width, none of whose scales is zero."""
    return st.builds(AffCase, vectors(width, nonzero()), vectors(width, beta))


@dataclass(frozen=True)
class CrossPatchCase:
    """X (d x N^2), A (N^2 x N^2) and the Affs before and after it."""

    x: Matrix
    a: Matrix
    before: AffCase
    after: AffCase

    def sizes(self) -> Mapping[str, int]:
        """Return the sizes by the paper's symbols."""
        return {"d": len(self.x), "N^2": len(self.a)}

    def module(self, arithmetic: Arithmetic) -> EquationLayer:
        """Return a layer with these weights in its cross-patch sublayer."""
        return loaded(EquationLayer(len(self.x), len(self.a)), self.weights(), arithmetic)

    def weights(self) -> dict[str, Values]:
        """Return the weights by the layer's names."""
        return {
            "across_patches.a.weight": self.a,
            **self.before.weights("pre1."),
            **self.after.weights("post1."),
        }

    def mixed(self, arithmetic: Arithmetic) -> RoundedMatrix:
        """Return (A Aff(X)^T)^T, what comes before the last Aff, as columns."""
        x, a = arithmetic.matrix(self.x), arithmetic.matrix(self.a)
        shifted = x.T.map_rows(lambda column: self.before.of(column, arithmetic))
        return shifted.T.map_rows(lambda channel: a @ channel).T

    def printed(self, arithmetic: Arithmetic) -> RoundedMatrix:
        """Return Z = X + Aff((A Aff(X)^T)^T) of Eq. 2, as a d x N^2 matrix."""
        mixed = self.mixed(arithmetic).map_rows(lambda column: self.after.of(column, arithmetic))
        return arithmetic.matrix(self.x) + mixed.T

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {
            "X": self.x,
            "A": self.a,
            "alpha before A": self.before.alpha,
            "beta before A": self.before.beta,
            "alpha after A": self.after.alpha,
            "beta after A": self.after.beta,
        }


@dataclass(frozen=True)
class FeedForwardCase:
    """Z (d x N^2), B (4d x d), C (d x 4d) and the Affs before B and after C."""

    z: Matrix
    b: Matrix
    c: Matrix
    before: AffCase
    after: AffCase

    def sizes(self) -> Mapping[str, int]:
        """Return the sizes by the paper's symbols."""
        return {"d": len(self.z), "N^2": len(self.z[0])}

    def module(self, arithmetic: Arithmetic) -> EquationLayer:
        """Return a layer with these weights in its cross-channel sublayer."""
        return loaded(EquationLayer(len(self.z), len(self.z[0])), self.weights(), arithmetic)

    def weights(self) -> dict[str, Values]:
        """Return the weights by the layer's names."""
        return {
            "across_channels.b.weight": self.b,
            "across_channels.c.weight": self.c,
            **self.before.weights("pre2."),
            **self.after.weights("post2."),
        }

    def printed(self, arithmetic: Arithmetic) -> RoundedMatrix:
        """Return Y = Z + Aff(C GELU(B Aff(Z))) of Eq. 3, as a d x N^2 matrix."""
        return self.of(arithmetic.matrix(self.z), arithmetic)

    def of(self, z: RoundedMatrix, arithmetic: Arithmetic) -> RoundedMatrix:
        """Return Y of a given Z."""
        return z + z.T.map_rows(lambda column: self._mixed(column, arithmetic)).T

    def _mixed(self, z: Column, arithmetic: Arithmetic) -> list[Rounded]:
        b, c = arithmetic.matrix(self.b), arithmetic.matrix(self.c)
        hidden = [gelu(number) for number in b @ self.before.of(z, arithmetic)]
        return self.after.of(c @ hidden, arithmetic)

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {
            "Z": self.z,
            "B": self.b,
            "C": self.c,
            "alpha before B": self.before.alpha,
            "beta before B": self.before.beta,
            "alpha after C": self.after.alpha,
            "beta after C": self.after.beta,
        }


def cross_patches() -> Strategy[CrossPatchCase]:
    """Cross-patch sublayers of width d up to 2 on a grid of 1 x 1 or 2 x 2 patches."""

    def sized(d: int, patches: int) -> Strategy[CrossPatchCase]:
        return st.builds(CrossPatchCase, matrices(d, patches), matrices(patches, patches), affs(d), affs(d))

    return each_of(sized, WIDTHS, PATCHES)


def feedforwards(
    patches: Sequence[int] = PATCHES, last_aff: Callable[[int], Strategy[AffCase]] = affs
) -> Strategy[FeedForwardCase]:
    """Cross-channel sublayers of width d up to 2, of one of the numbers of patches."""

    def sized(d: int, patches: int) -> Strategy[FeedForwardCase]:
        return st.builds(
            FeedForwardCase, matrices(d, patches), matrices(4 * d, d), matrices(d, 4 * d), affs(d), last_aff(d)
        )

    return each_of(sized, WIDTHS, patches)


def each_of(build: Callable[..., Strategy[Case]], *sizes: Sequence[int]) -> Strategy[Case]:
    """Examples of any of the sizes, the first being the simplest; built once, which takes less time than flatmap."""
    return st.one_of(*[build(*size) for size in combinations(*sizes)])


def batch_of(x: Matrix, arithmetic: Arithmetic) -> Tensor:
    """Return a d x N^2 matrix in the modules' layout, (1, patches, channels)."""
    return arithmetic.tensor(x).T[None]


def matrix_of(batch: Tensor) -> Tensor:
    """Return the d x N^2 matrix of a batch of one."""
    return batch[0].T


def loaded(module: Module, weights: Mapping[str, Values], arithmetic: Arithmetic) -> Module:
    """Return a module with the named weights set; the others stay as they were."""
    arithmetic.place(module)
    for name, values in weights.items():
        arithmetic.put(module, name, values)
    return module
