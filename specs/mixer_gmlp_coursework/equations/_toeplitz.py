"""tMLP's unit: words among zeros, and the diagonals of W."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from torch import Tensor, nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.matrix import RoundedMatrix
from imlp_audit.equations.mixer import fill
from imlp_audit.equations.strategies import Matrix, Vector, matrices, nonzero, numbers, vectors
from imlp_audit.models.blocks import Gate
from imlp_audit.models.gmlp import SpatialGatingUnit, ToeplitzProjection

from ._gmlp import project


@dataclass(frozen=True)
class Words:
    """An input Z (S x D_C), the 2S - 1 weights w_{1-S}, ..., w_{S-1} of W_{ij} = w_{i-j}, and one b for all tokens."""

    z: Matrix
    w: Vector
    b: float
    gate: Gate

    def sizes(self) -> Mapping[str, int | str]:
        """Return the unit, and the sizes by the paper's symbols."""
        return {"s(Z)": self.gate.formula, "S": len(self.z), "D_C": len(self.z[0])}

    def s(self, arithmetic: Arithmetic) -> Tensor:
        """Return what the package's unit makes of Z."""
        tokens, channels = len(self.z), len(self.z[0])
        unit = fill(
            lambda: SpatialGatingUnit(channels, tokens, self.gate, ToeplitzProjection, nn.Identity),
            {"proj.weight": self.w, "proj.bias": (self.b,) * tokens},
            arithmetic,
        )
        output: Tensor = unit(arithmetic.tensor(self.z))
        return output

    def printed(self, arithmetic: Arithmetic) -> RoundedMatrix:
        """Return s(Z) as printed, with W_{ij} = w_{i-j}."""
        tokens = len(self.z)
        w = arithmetic.matrix([[self.w[i - j + tokens - 1] for j in range(tokens)] for i in range(tokens)])
        z = arithmetic.matrix(self.z)
        half = self.gate.width(len(z[0]))
        f = project(w, arithmetic.vector((self.b,) * tokens), z.map_rows(lambda row: row[-half:]))
        return z.map_rows(lambda row: row[:half]) * f

    def moved_to(self, z: Matrix) -> Words:
        """Return the same unit with another input."""
        return replace(self, z=z)

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {"s(Z)": self.gate.formula, "Z": self.z, "w": self.w, "b": self.b}


def units(tokens: int, elements: st.Strategy[float] | None = None) -> st.Strategy[Words]:
    """Units of a number of tokens: the product unit on one channel, or the split one on two."""
    return st.sampled_from((Gate.PRODUCT, Gate.SPLIT)).flatmap(
        lambda gate: st.builds(
            Words,
            matrices(tokens, 2 if gate is Gate.SPLIT else 1, nonzero()),
            vectors(2 * tokens - 1, elements),
            numbers(),
            st.just(gate),
        )
    )


def shifted(z: Matrix, by: int) -> Matrix:
    """Return Z with its tokens moved towards the end, zeros in front of them; the last ones fall out."""
    zeros = ((0.0,) * len(z[0]),) * by
    return (zeros + z)[: len(z)]


@dataclass(frozen=True)
class Shift:
    """A unit, and by how much the words of its input are moved."""

    words: Words
    by: int


def shifts_inside(elements: st.Strategy[float] | None = None) -> st.Strategy[Shift]:
    """Words before as many zero tokens as they are moved by: none of them falls out."""

    def with_zeros(words: Words, by: int) -> Shift:
        kept = words.z[: len(words.z) - by]
        return Shift(words.moved_to(kept + ((0.0,) * len(words.z[0]),) * by), by)

    sizes = st.tuples(st.integers(2, 3), st.integers(1, 2)).filter(lambda size: size[0] > size[1])
    return sizes.flatmap(lambda size: st.builds(with_zeros, units(size[0], elements), st.just(size[1])))
