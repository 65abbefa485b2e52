"""A grey image, its patches, and their projection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.draw import Strategy
from imlp_audit.equations.matrix import RoundedMatrix
from imlp_audit.equations.mixer import fill
from imlp_audit.equations.rounded import Rounded, total
from imlp_audit.equations.strategies import Matrix, Vector, matrices, vectors
from imlp_audit.models.mixer import PatchEmbedding


@dataclass(frozen=True)
class Projection:
    """A grey image, and for each of C channels a P x P matrix of weights and a bias."""

    image: Matrix
    weights: tuple[Matrix, ...]
    bias: Vector

    @property
    def patch(self) -> int:
        """P."""
        return len(self.weights[0])

    def sizes(self) -> Mapping[str, int]:
        """Return P, C, and the rows and columns of patches."""
        rows, columns = (size // self.patch for size in (len(self.image), len(self.image[0])))
        return {"P": self.patch, "C": len(self.bias), "row": rows, "column": columns}

    def embedding(self, arithmetic: Arithmetic) -> PatchEmbedding:
        """Return the package's convolution with these weights."""
        weights: dict[str, object] = {"proj.weight": [[w] for w in self.weights], "proj.bias": self.bias}
        return fill(lambda: PatchEmbedding(self.patch, len(self.bias), image_channels=1), weights, arithmetic)

    def project(self, arithmetic: Arithmetic) -> RoundedMatrix:
        """Return the C sums over each patch, with the same weights, row by row of patches."""
        rows, columns = (range(0, size, self.patch) for size in (len(self.image), len(self.image[0])))
        return RoundedMatrix(self._patch(top, left, arithmetic) for top in rows for left in columns)

    def _patch(self, top: int, left: int, arithmetic: Arithmetic) -> list[Rounded]:
        image, bias, pixels = arithmetic.matrix(self.image), arithmetic.vector(self.bias), range(self.patch)
        return [
            total(w[y][x] * image[top + y][left + x] for y in pixels for x in pixels) + bias[c]
            for c, w in enumerate(map(arithmetic.matrix, self.weights))
        ]


def projections() -> Strategy[Projection]:
    """Images of up to 2 x 2 patches of up to 2 x 2 pixels, and up to two channels."""
    small = st.integers(1, 2)
    return st.tuples(small, small, small, small).flatmap(_of_sizes)


def _of_sizes(sizes: tuple[int, int, int, int]) -> Strategy[Projection]:
    patch, rows, columns, channels = sizes
    weights = st.tuples(*[matrices(patch, patch)] * channels)
    return st.builds(Projection, matrices(rows * patch, columns * patch), weights, vectors(channels))
