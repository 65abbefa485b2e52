"""Where a cross-patch matrix has its weights on the grid of patches (ResMLP, Sec. 3.3 and Fig. 2).

A (N, N) has a row for each patch of a side x side grid, numbered row by row, and row i is what patch i takes from each
patch. Everything here but `spiked` is of the other patches alone: of A without its diagonal. A weight counts by its
square, so that a share is one of the squared Frobenius norm; where patches are uncorrelated, that is of what a row adds
to its patch.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from imlp_audit.inspect.numbers import Matrix, scaled
from imlp_audit.inspect.toeplitz import by_chance, share_of_means, shifts
from imlp_audit.records.inspection import Pattern

Steps = NDArray[np.intp]


def steps(side: int) -> tuple[Steps, Steps]:
    """Return how many rows, and how many columns of the grid lie between patch i and patch j, each (N, N)."""
    row, column = np.divmod(np.arange(side * side), side)
    return np.abs(row[None, :] - row[:, None]), np.abs(column[None, :] - column[:, None])


def pattern(matrix: Matrix, side: int) -> Pattern:
    """Measure a cross-patch matrix of a grid of side x side patches."""
    numbers = scaled(matrix)
    others = numbers - np.diag(np.diag(numbers))
    squared = others**2
    down, across = steps(side)
    radius = window(side)
    shares = local(squared, np.maximum(down, across), radius) if radius else (None, None)
    return Pattern(
        side=side,
        radius=radius,
        local=shares[0],
        local_by_chance=shares[1],
        shifted=share_of_means(others, shifts(side)),
        shifted_by_chance=by_chance((2 * side - 1) ** 2 - 1, len(matrix)) / (1 - 1 / len(matrix)) if side > 1 else None,
        axes=along_axes(squared, down, across),
        spiked=spiked(numbers),
        reach=reach(squared, down, across),
        far=far(numbers, np.maximum(down, across), side),
    )


def window(side: int) -> int | None:
    """Return the radius of the window that is called local: 2, or 1 where 5 x 5 covers over 1/4 of all pairs.

    None where 3 x 3 does, too: then there is nothing to tell local from global by.
    """
    furthest = np.maximum(*steps(side))
    others = max(1, furthest.size - len(furthest))
    covered = {radius: (np.count_nonzero(furthest <= radius) - len(furthest)) / others for radius in (2, 1)}
    return next((radius for radius, share in covered.items() if side > 1 and 4 * share <= 1), None)


def local(squared: Matrix, furthest: Steps, radius: int) -> tuple[float | None, float]:
    """Return the share within `radius` rows and columns of the patch, and the share of the pairs that are there."""
    near = (furthest <= radius) & (furthest > 0)
    return _share(squared, near), float(np.count_nonzero(near) / np.count_nonzero(furthest))


def along_axes(squared: Matrix, down: Steps, across: Steps) -> float | None:
    """Return how many times more weight lies along the patch's row and column than if direction made no difference.

    Without a difference each ring of patches at one walking distance (rows plus columns) of 2 or more has its weight
    spread evenly over its pairs. It is the lesser of the two axes' factors: the support is to extend along both. Weight
    that only falls off with distance has a factor of at most 1, since on a ring the axes are the farthest off.
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


def spiked(matrix: Matrix) -> float:
    """Return the share of rows whose largest weight, by absolute value and alone, is the patch's own."""
    size = np.abs(matrix)
    own = np.diag(size).copy()
    np.fill_diagonal(size, -1.0)
    return float(np.mean(own > np.maximum(size.max(axis=1), 0.0)))


def reach(squared: Matrix, down: Steps, across: Steps) -> float | None:
    """Return the mean distance between the centres of patches that exchange weight, in patches."""
    whole = float(squared.sum())
    return float(np.sum(squared * np.hypot(down, across))) / whole if whole else None


def far(matrix: Matrix, furthest: Steps, side: int) -> float | None:
    """Return the largest weight that reaches over more than half of the grid's side, over the largest of all."""
    size, long = np.abs(matrix), 2 * furthest > side
    top = float(size.max())
    return float(size[long].max()) / top if top and long.any() else None


def _share(squared: Matrix, of: NDArray[np.bool_]) -> float | None:
    whole = float(squared.sum())
    return min(1.0, float(squared[of].sum()) / whole) if whole else None
