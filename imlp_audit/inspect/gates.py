"""How close a spatial gating unit's matrix (gMLP) is to a Toeplitz matrix: one number along each diagonal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from imlp_audit.inspect.arrays import Matrix, scale, to_array
from imlp_audit.inspect.parts import GatePart
from imlp_audit.records.inspection import GateMatrix

Classes = NDArray[np.intp]


def measure_gate(part: GatePart, side: int | None) -> GateMatrix:
    """Measure a gate's W; `side` is that of the grid of patches, None for texts."""
    matrix, tokens = spatial_matrix(part), part.tokens
    return GateMatrix(
        name=part.name,
        tokens=tokens,
        constrained=part.weight.ndim == 1,
        toeplitz=toeplitz_share(matrix),
        toeplitz_by_chance=by_chance(2 * tokens - 1, tokens),
        blocks=None if side is None else block_toeplitz_share(matrix, side),
        blocks_by_chance=None if side is None else by_chance((2 * side - 1) ** 2, tokens),
    )


def spatial_matrix(part: GatePart) -> Matrix:
    """Return W (n, n); a tMLP's is made from its diagonals, of which w[i - j] begins at the upper right corner."""
    weight = to_array(part.weight)
    return weight if part.weight.ndim == 2 else weight[diagonals(part.tokens).T]


def share_of_means(matrix: Matrix, classes: Classes) -> float | None:
    """Return the share of the squared Frobenius norm that is left when each class of places is replaced by its mean.

    `classes` (n, n) numbers the classes from 0. The matrix of means is the nearest one that is constant on every class,
    and the difference is orthogonal to it. None for a matrix of zeros.
    """
    numbers = scale(matrix)
    whole = float(np.sum(numbers**2))
    if not whole:
        return None
    places = np.bincount(classes.ravel())
    sums = np.bincount(classes.ravel(), weights=numbers.ravel())
    return min(1.0, float(np.sum(sums**2 / np.maximum(places, 1))) / whole)


def diagonals(tokens: int) -> Classes:
    """Return the classes (n, n) of equal j - i; a matrix that is constant on each is a Toeplitz matrix."""
    at = np.arange(tokens)
    return np.asarray(at[None, :] - at[:, None] + tokens - 1)


def shifts(side: int) -> Classes:
    """Return the classes (n, n), n = side^2, of equal shift on the grid from patch i to patch j, row by row of patches.

    A matrix that is constant on each has Toeplitz blocks in Toeplitz order, as a convolution of the grid has.
    """
    row, column = np.divmod(np.arange(side * side), side)
    down, right = row[None, :] - row[:, None], column[None, :] - column[:, None]
    return np.asarray((down + side - 1) * (2 * side - 1) + right + side - 1)


def toeplitz_share(matrix: Matrix) -> float | None:
    """Return the share of a square matrix that the nearest Toeplitz matrix has; None for zeros."""
    return share_of_means(matrix, diagonals(len(matrix)))


def block_toeplitz_share(matrix: Matrix, side: int) -> float | None:
    """Return the share that the nearest convolution of the grid of side x side patches has; None for zeros."""
    return share_of_means(matrix, shifts(side))


def by_chance(classes: int, tokens: int) -> float:
    """Return the expected share of independent numbers with mean 0 and one variance: a class is one number of n^2."""
    return classes / tokens**2
