"""Spatial gating and gMLP blocks: their weights as examples, the package's modules with them, the printed formulas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from torch import Tensor, nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial
from imlp_audit.equations.matrix import RoundedMatrix
from imlp_audit.equations.mixer import fill
from imlp_audit.equations.rounded import Rounded
from imlp_audit.equations.strategies import Matrix, Vector, matrices, numbers, vectors
from imlp_audit.models.blocks import Gate
from imlp_audit.models.gmlp import GmlpBlock, SpatialGatingUnit


def transposed(matrix: Matrix) -> Matrix:
    """Return the transpose: torch's linear layers keep theirs so."""
    return tuple(zip(*matrix, strict=True))


def project(w: RoundedMatrix, b: list[Rounded], z: RoundedMatrix) -> RoundedMatrix:
    """Return f(Z)_{ic} = sum_{j=1}^{S} W_{ij} Z_{jc} + b_i, one bias for each token."""
    return RoundedMatrix([entry + shift for entry in row] for row, shift in zip(w @ z, b, strict=True))


def all_hold(trials: Iterable[Trial]) -> Trial:
    """Return the first trial that does not hold, if any."""
    return next((trial for trial in trials if not trial.holds), Trial(True))


@dataclass(frozen=True)
class Gating:
    """An input Z of the unit (S tokens of D_C channels), W (S x S), and b, one number for each token."""

    z: Matrix
    w: Matrix
    b: Vector

    def sizes(self) -> Mapping[str, int]:
        """Return the sizes by the paper's symbols."""
        return {"S": len(self.z), "D_C": len(self.z[0])}

    def s(self, arithmetic: Arithmetic, gate: Gate) -> Tensor:
        """Return what the package's unit makes of Z, without a norm, as the formulas have it."""
        output: Tensor = self.unit(arithmetic, gate)(arithmetic.tensor(self.z))
        return output

    def unit(self, arithmetic: Arithmetic, gate: Gate) -> SpatialGatingUnit:
        """Return the package's unit with these weights."""
        tokens, channels = len(self.z), len(self.z[0])
        weights: dict[str, object] = {"proj.weight": self.w, "proj.bias": self.b}
        return fill(lambda: SpatialGatingUnit(channels, tokens, gate, norm_layer=nn.Identity), weights, arithmetic)

    def f(self, arithmetic: Arithmetic, z: RoundedMatrix) -> RoundedMatrix:
        """Return f of Z, or of some of its channels, as printed."""
        return project(arithmetic.matrix(self.w), arithmetic.vector(self.b), z)

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {"Z": self.z, "W": self.w, "b": self.b}


def gatings(
    channels: Iterable[int] = (1, 2), tokens: int = 3, elements: st.Strategy[float] | None = None
) -> st.Strategy[Gating]:
    """Units of up to `tokens` tokens; `elements` are those of Z."""
    return st.tuples(st.integers(1, tokens), st.sampled_from(list(channels))).flatmap(
        lambda size: st.builds(Gating, matrices(*size, elements), matrices(size[0], size[0]), vectors(size[0]))
    )


@dataclass(frozen=True)
class Block:
    """An input X (S x C) of a gMLP block, U (C x D_C), the W and b of its unit, and V."""

    x: Matrix
    u: Matrix
    w: Matrix
    b: Vector
    v: Matrix

    def sizes(self) -> Mapping[str, int]:
        """Return the sizes by the paper's symbols."""
        return {"S": len(self.x), "C": len(self.x[0]), "D_C": len(self.u[0])}

    def module(self, arithmetic: Arithmetic, gate: Gate) -> GmlpBlock:
        """Return the package's block with these weights; norms and the biases of U and V are left out, as printed."""
        tokens, width, hidden = len(self.x), len(self.x[0]), len(self.u[0])
        weights: dict[str, object] = {"u.weight": transposed(self.u), "v.weight": transposed(self.v)}
        weights |= {"u.bias": (0.0,) * hidden, "v.bias": (0.0,) * width}
        weights |= {"sgu.proj.weight": self.w, "sgu.proj.bias": self.b}
        return fill(lambda: GmlpBlock(width, hidden, tokens, gate, norm_layer=nn.Identity), weights, arithmetic)

    def y(self, arithmetic: Arithmetic, gate: Gate) -> Tensor:
        """Return what the package's block makes of X."""
        output: Tensor = self.module(arithmetic, gate)(arithmetic.tensor(self.x))
        return output

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {"X": self.x, "U": self.u, "W": self.w, "b": self.b, "V": self.v}


def blocks(
    gate: Gate,
    tokens: Iterable[int] = (1, 2),
    weights: st.Strategy[float] | None = None,
    elements: st.Strategy[float] | None = None,
    widths: Iterable[int] = (1, 2),
    hidden: Iterable[int] | None = None,
) -> st.Strategy[Block]:
    """Blocks of few tokens; `weights` are the entries of W, `elements` all others."""
    hidden = hidden or ((2, 4) if gate is Gate.SPLIT else (1, 2))
    sizes = st.tuples(*[st.sampled_from(list(choices)) for choices in (tokens, widths, hidden)])
    any_number = numbers() if elements is None else elements
    return sizes.flatmap(
        lambda size: st.builds(
            Block,
            matrices(size[0], size[1], any_number),
            matrices(size[1], size[2], any_number),
            matrices(size[0], size[0], weights),
            vectors(size[0], any_number),
            matrices(gate.width(size[2]), size[1], any_number),
        )
    )
