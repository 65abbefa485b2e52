"""How near a square matrix is to one with the same number along each diagonal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from imlp_audit.inspect.numbers import Matrix, scaled

Classes = NDArray[np.intp]


def share_of_means(matrix: Matrix, classes: Classes) -> float | None:
    """Return the share of the squared Frobenius norm that is left when every class of places takes its mean.

    `classes` (n, n) numbers the classes from 0. That matrix of means is the nearest one that is constant on every
    class, and what it leaves is orthogonal to it. None for a matrix of zeros.
    """
    numbers = scaled(matrix)
    whole = float(np.sum(numbers**2))
    if not whole:
        return None
    places = np.bincount(classes.ravel())
    sums = np.bincount(classes.ravel(), weights=numbers.ravel())
    return min(1.0, float(np.sum(sums**2 / np.maximum(places, 1))) / whole)


def diagonals(tokens: int) -> Classes:
    """Return the classes (n, n) of equal j - i: constant on them is a Toeplitz matrix."""
    at = np.arange(tokens)
    return np.asarray(at[None, :] - at[:, None] + tokens - 1)


def shifts(side: int) -> Classes:
    """Return the classes (n, n), n = side^2, of equal shift on the grid from patch i to patch j, row by row of patches.

    Constant on them is a matrix of Toeplitz blocks in Toeplitz order: what a convolution of the grid is.
    """
    row, column = np.divmod(np.arange(side * side), side)
    down, right = row[None, :] - row[:, None], column[None, :] - column[:, None]
    return np.asarray((down + side - 1) * (2 * side - 1) + right + side - 1)


def toeplitz_share(matrix: Matrix) -> float | None:
    """Return the share of a square matrix that its nearest Toeplitz matrix has; None for zeros."""
    return share_of_means(matrix, diagonals(len(matrix)))


def block_toeplitz_share(matrix: Matrix, side: int) -> float | None:
    """Return the share that the nearest convolution of the grid of side x side patches has; None for zeros."""
    return share_of_means(matrix, shifts(side))


def by_chance(classes: int, tokens: int) -> float:
    """Return the expected share of independent numbers with mean 0 and one variance: a class is one number of n^2."""
    return classes / tokens**2
