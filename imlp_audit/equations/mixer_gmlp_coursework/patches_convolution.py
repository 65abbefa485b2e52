"""Projecting every patch with one matrix is a convolution with kernel P and stride P.

Read as: each channel of the projection is its own sum over the patch's pixels, the same for all patches, plus a bias.

Place: Sec. 2.1, second paragraph
Printed: Все патчи линейно проецируются в вектор размерности C. Данную операцию можно сделать свёрткой с размером ядра
    P и шагом P.
Bound: gamma_{P^2+1} times the sum of the magnitudes, for one image channel
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._mixer import filled
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

    def embedding(self, arithmetic: Arithmetic) -> PatchEmbedding:
        """Return the package's convolution with these weights."""
        weights: dict[str, object] = {"proj.weight": [[w] for w in self.weights], "proj.bias": self.bias}
        return filled(lambda: PatchEmbedding(self.patch, len(self.bias), image_channels=1), weights, arithmetic)


def judge(case: Projection, arithmetic: Arithmetic) -> Trial:
    """Hold the convolution against the sums over each patch."""
    image, bias = arithmetic.matrix(case.image), arithmetic.vector(case.bias)
    pixels = range(case.patch)

    def projected(top: int, left: int) -> list[Rounded]:
        return [
            total(w[y][x] * image[top + y][left + x] for y in pixels for x in pixels) + bias[c]
            for c, w in enumerate(map(arithmetic.matrix, case.weights))
        ]

    corners = [(y, x) for y in range(0, len(image), case.patch) for x in range(0, len(image[0]), case.patch)]
    module = case.embedding(arithmetic)(arithmetic.tensor([[case.image]]))[0]
    printed = [projected(*corner) for corner in corners]
    return equal(module, printed, image=case.image, weights=case.weights, bias=case.bias)


def _projections(sizes: tuple[int, int, int, int]) -> SearchStrategy[Projection]:
    patch, rows, columns, channels = sizes
    weights = st.tuples(*[matrices(patch, patch)] * channels)
    return st.builds(Projection, matrices(rows * patch, columns * patch), weights, vectors(channels))


_small = st.integers(1, 2)
CLAIM = Claim(st.tuples(_small, _small, _small, _small).flatmap(_projections), judge)
