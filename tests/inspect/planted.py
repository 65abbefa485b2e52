"""States with known weights: matrices that shift, lie along axes, spike or are Toeplitz."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Matrix = NDArray[np.float64]


def shifted(side: int, kernel: Matrix) -> Matrix:
    """The matrix of a convolution of the grid with a square kernel of odd side, zero-padded; a plain loop."""
    radius = len(kernel) // 2
    matrix = np.zeros((side * side, side * side))
    for i in range(side * side):
        for j in range(side * side):
            down, right = j // side - i // side, j % side - i % side
            if max(abs(down), abs(right)) <= radius:
                matrix[i, j] = kernel[down + radius, right + radius]
    return matrix


def cross(side: int) -> Matrix:
    """One along the row and the column of each patch, 0 elsewhere."""
    at = np.arange(side * side)
    same_row = at[:, None] // side == at[None, :] // side
    same_column = at[:, None] % side == at[None, :] % side
    return np.where(same_row | same_column, 1.0, 0.0)


def spike(side: int, own: float, seed: int) -> Matrix:
    """Independent normal numbers, and `own` on the diagonal."""
    matrix = np.random.default_rng(seed).normal(size=(side * side, side * side))
    np.fill_diagonal(matrix, own)
    return matrix


def toeplitz(tokens: int, seed: int) -> Matrix:
    """Normal numbers along the diagonals; a plain loop."""
    diagonals = np.random.default_rng(seed).normal(size=2 * tokens - 1)
    return np.array([[diagonals[j - i + tokens - 1] for j in range(tokens)] for i in range(tokens)])


def stem(patches_of: int = 2) -> dict[str, Tensor]:
    """An embedding of patches: what tells that a network is for images."""
    return {"stem.proj.weight": torch.ones(4, 3, patches_of, patches_of)}


def resmlp(matrices: list[Matrix], width: int = 8, *, image: bool = True) -> dict[str, Tensor]:
    """ResMLP's state under timm's names, with these A; B and C are normal."""
    generator = torch.Generator().manual_seed(5)
    state = stem() if image else {}
    for at, matrix in enumerate(matrices):
        state[f"blocks.{at}.linear_tokens.weight"] = torch.from_numpy(matrix).float()
        state[f"blocks.{at}.mlp_channels.fc1.weight"] = torch.randn(4 * width, width, generator=generator)
        state[f"blocks.{at}.mlp_channels.fc2.weight"] = torch.randn(width, 4 * width, generator=generator)
    return state


def like_the_paper(side: int = 14, layers: int = 8, width: int = 16) -> dict[str, Tensor]:
    """A state that every sentence of ResMLP is true of: local, along axes, then spikes; B and C have long tails."""
    rng = np.random.default_rng(3)
    size, last, early = side * side, -(-layers * 7 // 24), -(-layers // 4)
    local = [shifted(side, rng.normal(size=(5, 5))) for _ in range(early)]
    axes = [cross(side) * rng.normal(size=(size, size)) for _ in range(layers - early - last)]
    spikes = [40 * np.eye(size) + rng.normal(size=(size, size)) for _ in range(last)]
    state = resmlp([one + 0.02 * rng.normal(size=(size, size)) for one in (*local, *axes, *spikes)], width)
    for at in range(early):
        state[f"blocks.{at}.linear_tokens.weight"][:5, -5:] = 1.0  # a few, from corner to corner
    return {name: value**3 if "mlp_channels" in name else value for name, value in state.items()}
