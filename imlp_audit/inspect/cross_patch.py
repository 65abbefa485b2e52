"""How a block mixes patches: how sparse its matrices are, and where on the grid of patches their weights are.

A cross-patch matrix A (N, N) has a row for each patch of a side x side grid, numbered row by row; row i is what patch i
takes from each patch (ResMLP, Sec. 3.3 and Fig. 2). All numbers of a `Pattern` except `spiked` leave out the diagonal.
A weight counts by its square, so a share is one of the squared Frobenius norm. If patches are uncorrelated, that is the
share of what a row adds to its patch.
"""

from __future__ import annotations

from math import erf, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from imlp_audit.inspect.agelu import gelu_slope
from imlp_audit.inspect.arrays import Matrix, chunks, scale, to_array
from imlp_audit.inspect.gates import by_chance, share_of_means, shifts
from imlp_audit.inspect.parts import MixingPart
from imlp_audit.records.inspection import CrossPatchLayer, Pattern, Sparsity

Steps = NDArray[np.intp]

_SHARE = 20  # 5 % is a twentieth
_FEW = 100  # one number in so many


def measure_layer(part: MixingPart, side: int | None) -> CrossPatchLayer:
    """Measure a block; `side` is that of the grid of its patches, None if there is no such grid."""
    pattern, why_none = measure_mixing(part, side)
    return CrossPatchLayer(
        name=part.name,
        patches=part.patches,
        across=tuple(measure_sparsity(one.letter, one.name, one.values) for one in part.across),
        channels=tuple(measure_sparsity(one.letter, one.name, one.values) for one in part.channels),
        pattern=pattern,
        why_no_pattern=why_none,
    )


def measure_mixing(part: MixingPart, side: int | None) -> tuple[Pattern | None, str | None]:
    """Return where a block's weights are on the grid, or why that cannot be said."""
    if side is None:
        return None, f"its {part.patches} tokens are not the patches of a square grid of an image"
    matrix = cross_patch_matrix(part)
    return (None, "its activation is gated") if matrix is None else (measure_pattern(matrix, side), None)


def cross_patch_matrix(part: MixingPart) -> Matrix | None:
    """Return the matrix (N, N) that mixes patches.

    For ResMLP it is A. For an MLP across patches it is the derivative at 0, W2 diag(GELU'(b)) W1 with the bias b of W1:
    the MLP's effect on small inputs, whose mean is 0 after the norm. None if a gated activation keeps W1 and W2 apart.
    """
    matrices = [to_array(one.values) for one in part.across]
    if len(matrices) == 1:
        return matrices[0]
    first, second = matrices
    if second.shape[1] != first.shape[0]:
        return None
    shift = np.zeros(len(first)) if part.bias is None else to_array(part.bias)
    return np.asarray(second @ (gelu_slope(shift)[:, None] * first))


def measure_sparsity(matrix: str, name: str, weights: Tensor) -> Sparsity:
    """Count the weights below 5 % of the largest, by absolute value (ResMLP, Sec. 3.3 and Fig. 3).

    `matrix` is the paper's letter, `name` the checkpoint's name.
    """
    top = max(float(chunk.abs().max()) for chunk in chunks(weights))
    below = sum(int((chunk.abs() < top / _SHARE).sum()) for chunk in chunks(weights))
    zeros = sum(int((chunk == 0).sum()) for chunk in chunks(weights))
    of = weights.numel()
    return Sparsity(matrix=matrix, name=name, below=below, zeros=zeros, of=of, normal=rate_of_normal(of))


def rate_of_normal(count: int) -> float:
    """Return the expected share of `count` independent normal numbers below 5 % of the median of their largest.

    Their largest absolute value is below m with the probability (2 Phi(m) - 1)^count.
    """
    largest = NormalDist().inv_cdf((1 + 0.5 ** (1 / count)) / 2)
    return erf(largest / _SHARE / sqrt(2))


def steps(side: int) -> tuple[Steps, Steps]:
    """Return how many rows, and how many columns of the grid lie between patch i and patch j, each (N, N)."""
    row, column = np.divmod(np.arange(side * side), side)
    return np.abs(row[None, :] - row[:, None]), np.abs(column[None, :] - column[:, None])


def measure_pattern(matrix: Matrix, side: int) -> Pattern:
    """Measure a cross-patch matrix of a grid of side x side patches."""
    numbers = scale(matrix)
    others = numbers - np.diag(np.diag(numbers))
    squared = others**2
    down, across = steps(side)
    radius = window(side)
    shares = local_share(squared, np.maximum(down, across), radius) if radius else (None, None)
    return Pattern(
        side=side,
        radius=radius,
        local=shares[0],
        local_by_chance=shares[1],
        shifted=share_of_means(others, shifts(side)),
        shifted_by_chance=by_chance((2 * side - 1) ** 2 - 1, len(matrix)) / (1 - 1 / len(matrix)) if side > 1 else None,
        axes=along_axes(squared, down, across),
        spiked=spiked_share(numbers),
        reach=mean_distance(squared, down, across),
        far=largest_far_weight(numbers, np.maximum(down, across), side),
        far_in_few=share_of_few(squared[2 * np.maximum(down, across) > side]),
    )


def window(side: int) -> int | None:
    """Return the radius of the window that counts as local: 2, or 1 if 5 x 5 covers over 1/4 of all pairs.

    None if 3 x 3 covers that much, too: then local and global look the same.
    """
    furthest = np.maximum(*steps(side))
    others = max(1, furthest.size - len(furthest))
    covered = {radius: (np.count_nonzero(furthest <= radius) - len(furthest)) / others for radius in (2, 1)}
    return next((radius for radius, share in covered.items() if side > 1 and 4 * share <= 1), None)


def local_share(squared: Matrix, furthest: Steps, radius: int) -> tuple[float | None, float]:
    """Return the share of weight within `radius` rows and columns of the patch, and the share of pairs there."""
    near = (furthest <= radius) & (furthest > 0)
    return _share(squared, near), float(np.count_nonzero(near) / np.count_nonzero(furthest))


def along_axes(squared: Matrix, down: Steps, across: Steps) -> float | None:
    """Return how many times more weight lies along the patch's row and column than if direction made no difference.

    If it made none, each ring of patches at one walking distance (rows plus columns) of 2 or more would have its weight
    spread evenly over its pairs. The smaller of the two axes' factors is returned, since the support must extend along
    both. Weight that only falls off with distance has a factor of at most 1: on a ring the axes are farthest away.
    """
    walk = down + across
    used = walk >= 2
    rings, weight = walk[used], squared[used]
    of_ring = np.bincount(rings, weights=weight)
    factors = []
    for axis in ((down == 0)[used], (across == 0)[used]):
        share = np.bincount(rings[axis], minlength=len(of_ring)) / np.maximum(np.bincount(rings), 1)
        even = float(np.sum(of_ring * share))
        factors.append(float(np.sum(weight[axis])) / even if even else None)
    known = [factor for factor in factors if factor is not None]
    return min(known) if len(known) == len(factors) else None


def spiked_share(matrix: Matrix) -> float:
    """Return the share of rows whose largest weight, by absolute value and alone, is the patch's own."""
    size = np.abs(matrix)
    own = np.diag(size).copy()
    np.fill_diagonal(size, -1.0)
    return float(np.mean(own > np.maximum(size.max(axis=1), 0.0)))


def mean_distance(squared: Matrix, down: Steps, across: Steps) -> float | None:
    """Return the mean distance between the centres of patches that exchange weight, in patches."""
    whole = float(squared.sum())
    return float(np.sum(squared * np.hypot(down, across))) / whole if whole else None


def largest_far_weight(matrix: Matrix, furthest: Steps, side: int) -> float | None:
    """Return the largest weight that reaches over more than half of the grid's side, over the largest of all."""
    size, long = np.abs(matrix), 2 * furthest > side
    top = float(size.max())
    return float(size[long].max()) / top if top and long.any() else None


def share_of_few(squared: Matrix) -> float | None:
    """Return the share of weight that the largest hundredth of some numbers has; None if there is no weight."""
    whole = float(squared.sum())
    few = -(-squared.size // _FEW)
    return min(1.0, float(np.partition(squared, -few)[-few:].sum()) / whole) if whole else None


def _share(squared: Matrix, of: NDArray[np.bool_]) -> float | None:
    whole = float(squared.sum())
    return min(1.0, float(squared[of].sum()) / whole) if whole else None
