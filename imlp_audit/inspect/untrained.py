"""Whether weights look as if nobody had trained them: as if their numbers lay in random places."""

from __future__ import annotations

from math import comb

import numpy as np
import torch

from imlp_audit.checkpoint.contents import BUFFERS
from imlp_audit.inspect.arrays import Matrix, scale, to_array, why_not_plain
from imlp_audit.inspect.parts import State

_SHUFFLES = 19
_FEWEST = 6  # matrices, below which nothing is said
_SMALLEST = 8  # rows and columns of a matrix that can tell
_MOST = 32
_SIDE = 256  # of the part of a matrix that is looked at
_LEVEL = 0.01
_ITERATIONS = 12


def explain_untrained(state: State) -> str | None:
    """Return why weights look untrained; None if they do not, or if there are too few matrices to say.

    Training gives a matrix directions: its largest singular value then exceeds those of the same numbers in random
    places. Of 20 arrangements of independent numbers each is the largest equally often, so of n untrained matrices one
    in 20 exceeds its 19 shuffles. Weights look untrained if as many as were found would not surprise (at 1 %).
    """
    learned = [value for name, value in state.items() if name.rpartition(".")[2] not in BUFFERS]
    found = [matrix for value in learned if (matrix := _corner(value)) is not None]
    chosen = found[:: -(-len(found) // _MOST)] if found else []
    if len(chosen) < _FEWEST:
        return None
    random = np.random.default_rng(0)
    above = sum(_exceeds_its_shuffles(matrix, random) for matrix in chosen)
    if _at_least(above, len(chosen)) <= _LEVEL:
        return None
    return (
        f"these weights look untrained: {above} of {len(chosen)} matrices have a larger norm than the same numbers in "
        "random places"
    )


def _corner(value: torch.Tensor) -> Matrix | None:
    """Return a part of a weight as a matrix; None if it is not a matrix of numbers, or a small one."""
    if value.ndim < 2 or why_not_plain(value) is not None:
        return None
    corner = to_array(value.flatten(1)[:_SIDE, :_SIDE])
    return scale(corner) if min(corner.shape) >= _SMALLEST and bool(np.isfinite(corner).all()) else None


def _exceeds_its_shuffles(matrix: Matrix, random: np.random.Generator) -> bool:
    top, numbers = _largest_stretch(matrix), matrix.ravel()
    return all(_largest_stretch(random.permutation(numbers).reshape(matrix.shape)) < top for _ in range(_SHUFFLES))


def _largest_stretch(matrix: Matrix) -> float:
    """Return about the largest singular value: a few steps of the power method from the vector of ones."""
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
    """Return how likely so many of some matrices exceed their shuffles by chance."""
    chance = 1 / (_SHUFFLES + 1)
    return sum(comb(trials, one) * chance**one * (1 - chance) ** (trials - one) for one in range(successes, trials + 1))
