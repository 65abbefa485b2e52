"""The MLP that mixes patches: Appendix A's "linear N x 4N - GELU - linear 4N x N" on transposed features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from imlp_audit.equations import draw as st
from imlp_audit.equations.draw import Strategy
from imlp_audit.equations.strategies import Matrix, Vector, matrices, vectors

from ._layer import Values, each_of


@dataclass(frozen=True)
class PatchMlp:
    """Features (N x d, a row for each of N patches), weights 4N x N and N x 4N, and their biases."""

    x: Matrix
    first: Matrix
    first_bias: Vector
    last: Matrix
    last_bias: Vector

    def sizes(self) -> Mapping[str, int]:
        """Return the sizes by the paper's symbols."""
        return {"N": len(self.x), "d": len(self.x[0])}

    def weights(self, prefix: str = "") -> dict[str, Values]:
        """Return the weights by the names of the feedforward module below a prefix."""
        return {
            f"{prefix}b.weight": self.first,
            f"{prefix}b.bias": self.first_bias,
            f"{prefix}c.weight": self.last,
            f"{prefix}c.bias": self.last_bias,
        }

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {
            "x": self.x,
            "first linear": self.first,
            "its bias": self.first_bias,
            "last linear": self.last,
            "bias of that": self.last_bias,
        }


def patch_mlps() -> Strategy[PatchMlp]:
    """MLPs across one or two patches of one to three channels."""

    def sized(n: int, d: int) -> Strategy[PatchMlp]:
        return st.builds(PatchMlp, matrices(n, d), matrices(4 * n, n), vectors(4 * n), matrices(n, 4 * n), vectors(n))

    return each_of(sized, (1, 2), (1, 2, 3))
