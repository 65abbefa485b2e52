"""Where ResMLP's cross-patch matrices have their weights on the grid of patches, and how sparse matrices are.

A cross-patch matrix A (N, N) has a row for each patch of a side x side grid, numbered row by row; row i is what patch i
takes from each patch (Sec. 3.3 and Fig. 2). Everything but spikes leaves out the diagonal. A weight counts by its
square, so a share is one of the squared Frobenius norm. If patches are uncorrelated, that is the share of what a row
adds to its patch.
"""

from dataclasses import dataclass
from functools import cached_property
from math import erf, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from imlp_audit.inspect.learned_weights import (
    LayerWeights,
    Matrix,
    Noise,
    UndecidedError,
    scale,
    share_of_means,
    shifts,
)

_MOST_PATCHES = 4096
_SMALL = 20  # 5 % is a twentieth
_FEW = 100  # one number in so many


def cross_patch_matrix(layer: LayerWeights) -> Matrix:
    """Return the matrix (N, N) that mixes patches.

    For ResMLP it is A. For an MLP across patches it is the derivative at 0, W2 diag(GELU'(b)) W1 with the bias b of W1:
    the MLP's effect on small inputs, whose mean is 0 after the norm.
    """
    across = ["A"] if "A" in layer else ["W1", "W2"]
    matrices = [layer[letter] for letter in across]
    for letter, matrix in zip(across, matrices, strict=True):
        if matrix.ndim != 2:
            raise UndecidedError(f"{layer.name}: {letter} has shape {list(matrix.shape)}, which is not a matrix")
    first, last = matrices[0], matrices[-1]
    if last.shape[0] != first.shape[1] or len(last) > _MOST_PATCHES:
        raise UndecidedError(f"{layer.name}: it maps {first.shape[1]} patches to {last.shape[0]}")
    if first is last:
        return first
    if last.shape[1] != first.shape[0]:
        raise UndecidedError(f"{layer.name}: its activation is gated")
    shift = layer["b1"].ravel() if "b1" in layer else np.zeros(len(first))
    if len(shift) != len(first):
        raise UndecidedError(f"{layer.name}: the bias of W1 has {len(shift)} numbers, not {len(first)}")
    normal = NormalDist()  # the slope of GeLU is Phi(x) + x phi(x)
    slopes = np.array([normal.cdf(x) + x * normal.pdf(x) for x in shift.tolist()])
    return np.asarray(last @ (slopes[:, None] * first))


@dataclass(frozen=True)
class Pattern:
    """A cross-patch matrix on its grid of side x side patches."""

    matrix: Matrix
    side: int

    @cached_property
    def steps(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """How many rows, and how many columns of the grid lie between patch i and patch j, each (N, N)."""
        row, column = np.divmod(np.arange(self.side**2), self.side)
        return np.abs(row[None, :] - row[:, None]), np.abs(column[None, :] - column[:, None])

    @cached_property
    def furthest(self) -> NDArray[np.intp]:
        """The larger of both steps."""
        return np.maximum(*self.steps)

    @cached_property
    def others(self) -> Matrix:
        """The weights without the diagonal."""
        return np.asarray(self.matrix - np.diag(np.diag(self.matrix)))

    @cached_property
    def squared(self) -> Matrix:
        """The squares of the weights without the diagonal."""
        return np.asarray(self.others**2)

    @property
    def radius(self) -> int | None:
        """The radius of the window that counts as local: 2, or 1 if 5 x 5 covers over 1/4 of all pairs.

        None if 3 x 3 covers that much, too: then local and global look the same.
        """
        others = max(1, self.furthest.size - len(self.furthest))
        covered = {r: (np.count_nonzero(self.furthest <= r) - len(self.furthest)) / others for r in (2, 1)}
        return next((r for r, share in covered.items() if self.side > 1 and 4 * share <= 1), None)

    def local(self) -> tuple[float | None, float]:
        """Return the share of weight within the window, and the share of pairs there."""
        radius = self.radius
        if radius is None:
            raise UndecidedError("the grid is too small to tell local from global")
        near = (self.furthest <= radius) & (self.furthest > 0)
        whole = float(self.squared.sum())
        share = min(1.0, float(self.squared[near].sum()) / whole) if whole else None
        return share, float(np.count_nonzero(near) / np.count_nonzero(self.furthest))

    def shifted(self) -> tuple[float | None, float | None]:
        """Return the share of weight of the nearest matrix whose rows are one filter, shifted, and that of chance."""
        side, size = self.side, len(self.matrix)
        chance = ((2 * side - 1) ** 2 - 1) / (size**2 - size) if side > 1 else None
        return share_of_means(self.others, shifts(side)), chance

    def axes(self) -> float | None:
        """Return how many times more weight lies along the patch's row and column than if direction did not matter.

        If it did not, each ring of patches at one walking distance (rows plus columns) of 2 or more would have its
        weight spread evenly over its pairs. The smaller of the two axes' factors is returned, since the support must
        extend along both. Weight that only falls off with distance has a factor of at most 1: on a ring the axes are
        farthest away.
        """
        down, across = self.steps
        used = down + across >= 2
        rings, weight = (down + across)[used], self.squared[used]
        of_ring = np.bincount(rings, weights=weight)
        factors = []
        for axis in ((down == 0)[used], (across == 0)[used]):
            share = np.bincount(rings[axis], minlength=len(of_ring)) / np.maximum(np.bincount(rings), 1)
            even = float(np.sum(of_ring * share))
            if not even:
                return None
            factors.append(float(np.sum(weight[axis])) / even)
        return min(factors)

    def spiked(self) -> float:
        """Return the share of rows whose largest weight, by absolute value and alone, is the patch's own."""
        size = np.abs(self.matrix)
        own = np.diag(size).copy()
        np.fill_diagonal(size, -1.0)
        return float(np.mean(own > np.maximum(size.max(axis=1), 0.0)))

    def reach(self) -> float | None:
        """Return the mean distance between the centres of patches that exchange weight, in patches."""
        whole = float(self.squared.sum())
        return float(np.sum(self.squared * np.hypot(*self.steps))) / whole if whole else None

    def far(self) -> float | None:
        """Return the largest weight that reaches over more than half of the grid's side, over the largest of all."""
        size, long = np.abs(self.matrix), 2 * self.furthest > self.side
        top = float(size.max())
        return float(size[long].max()) / top if top and long.any() else None

    def far_in_few(self) -> float | None:
        """Return the share of such far weight that the largest hundredth of these numbers has."""
        squared = self.squared[2 * self.furthest > self.side]
        whole = float(squared.sum())
        few = -(-squared.size // _FEW)
        return min(1.0, float(np.partition(squared, -few)[-few:].sum()) / whole) if whole else None


def find_pattern(layer: LayerWeights) -> Pattern:
    """Return a layer's cross-patch matrix on its grid."""
    matrix = cross_patch_matrix(layer)
    return Pattern(scale(matrix), layer.side(len(matrix)))


@dataclass(frozen=True)
class Sparsity:
    """How many of a matrix's numbers are below 5 % of its largest by absolute value, and how many are exactly 0."""

    below: int
    zeros: int
    of: int

    @property
    def rate(self) -> float:
        """The share that is below (Sec. 3.3 and Fig. 3)."""
        return self.below / self.of

    @property
    def normal(self) -> float:
        """The expected share of as many independent normal numbers below 5 % of the median of their largest.

        Their largest absolute value is below m with the probability (2 Phi(m) - 1)^of.
        """
        largest = NormalDist().inv_cdf((1 + 0.5 ** (1 / self.of)) / 2)
        return erf(largest / _SMALL / sqrt(2))


def measure_sparsity(layer: LayerWeights, letter: str) -> Sparsity:
    """Count a matrix's small numbers; those of fresh noise are drawn without the numbers, which takes no time."""
    if layer.noise is not None and layer.noise[0] is not Noise.SHUFFLED:
        return draw_sparsity(layer.count(letter), layer.noise[0], layer.random(letter))
    size = np.abs(layer[letter])
    return Sparsity(int(np.count_nonzero(size < size.max() / _SMALL)), int(np.count_nonzero(size == 0)), size.size)


def draw_sparsity(of: int, kind: Noise, random: np.random.Generator) -> Sparsity:
    """Draw the counts of so many normal or uniform numbers.

    The largest of n absolute values is below m with the probability F(m)^n; the others are independent below it.
    """
    small, highest = 1 / _SMALL, random.uniform() ** (1 / of)  # F of the largest
    if kind is Noise.NORMAL:
        largest = NormalDist().inv_cdf(min((1 + highest) / 2, 1 - 2**-53))
        small = min(1.0, erf(largest / _SMALL / sqrt(2)) / highest)
    return Sparsity(int(random.binomial(of - 1, small)), 0, of)
