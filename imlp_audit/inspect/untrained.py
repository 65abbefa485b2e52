"""Whether weights look as if nobody had trained them: as if their numbers lay in random places."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imlp_audit.checkpoint.contents import BUFFERS
from imlp_audit.inspect.learned_weights import Matrix, scale

_SHUFFLES = 119
_MEASURES = 3
_FEWEST = 6  # matrices, below which nothing is said
_MOST = 32
_SMALLEST = 8  # rows and columns of a matrix that can tell
_SIDE = 128  # of the part of a matrix that is looked at
_LEVEL = 0.01
_ITERATIONS = 12


def explain_untrained(state: Mapping[str, Tensor]) -> str | None:
    """Return why weights look untrained; None if they do not, or if there are too few matrices to say.

    Training changes a matrix's largest singular value, and how much the squares of its rows and of its columns vary. A
    matrix stands out if one of these three is above those of all its 119 shuffles, or below all. An untrained matrix
    does so in at most one case of 20: 2 ends x 3 measures / 120. Weights look untrained if as many matrices stand out
    as chance explains (at 1 %).
    """
    learned = [value for name, value in sorted(state.items()) if name.rpartition(".")[2] not in BUFFERS]
    found = [matrix for value in learned if (matrix := _corner(value)) is not None]
    chosen = found[:: -(-len(found) // _MOST)] if found else []
    if len(chosen) < _FEWEST:
        return None
    random = np.random.default_rng(0)
    out = sum(_stands_out(matrix, random) for matrix in chosen)
    if _at_least(out, len(chosen)) <= _LEVEL:
        return None
    return (
        f"these weights look untrained: {out} of {len(chosen)} matrices can be told from their own numbers in random "
        "places"
    )


def _corner(value: Tensor) -> Matrix | None:
    """Return a part of a weight as a matrix; None if it is not a matrix of numbers, or a small one."""
    if value.ndim < 2 or not value.is_floating_point():
        return None
    corner: Matrix = value.flatten(1)[:_SIDE, :_SIDE].to(torch.float64).numpy()
    return scale(corner) if min(corner.shape) >= _SMALLEST and bool(np.isfinite(corner).all()) else None


def _stands_out(matrix: Matrix, random: np.random.Generator) -> bool:
    own, numbers = _measure(matrix), matrix.ravel()
    above = below = np.ones(_MEASURES, dtype=bool)
    for _ in range(_SHUFFLES):
        other = _measure(random.permutation(numbers).reshape(matrix.shape))
        above, below = above & (own > other), below & (own < other)
        if not (above | below).any():
            return False
    return True


def _measure(matrix: Matrix) -> NDArray[np.float64]:
    squared = matrix**2
    return np.array([_largest_stretch(matrix), squared.sum(axis=0).var(), squared.sum(axis=1).var()])


def _largest_stretch(matrix: Matrix) -> float:
    """Return about the largest singular value, squared: a few steps of the power method from the vector of ones."""
    vector = np.ones(matrix.shape[1])
    length = 0.0
    for _ in range(_ITERATIONS):
        vector = matrix.T @ (matrix @ vector)
        length = float(np.linalg.norm(vector))
        if not length:
            break
        vector /= length
    return length


def _at_least(successes: int, trials: int) -> float:
    """Return how likely so many of some untrained matrices stand out, at most."""
    chance = 2 * _MEASURES / (_SHUFFLES + 1)
    return sum(comb(trials, one) * chance**one * (1 - chance) ** (trials - one) for one in range(successes, trials + 1))
