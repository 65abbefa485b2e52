"""The largest gradient norm that is found: no Lipschitz constant can be smaller."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor

from imlp_audit.lipschitz.branches import Branch, Matrix

_STEPS = (1.0, 0.3, 0.1, 0.03, 0.01)  # of the ascent, in units of the input


def largest_gradient(branches: tuple[Branch, Branch], starts: Iterable[Matrix], rounds: int = 20) -> float:
    """Return the largest spectral norm of the module's Jacobian on the way up from each start (C,).

    The Jacobian at x is the sum of outer diag(GeLU'(inner x + shift)) inner over the branches. With its first
    singular vectors u and v the gradient of its norm is that of u^T J(x) v.
    """
    return max(_ascend(branches, start, rounds) for start in starts)


def _ascend(branches: tuple[Branch, Branch], x: Matrix, rounds: int) -> float:
    best, direction = _norm_and_slope(branches, x)
    for _ in range(rounds):
        size = float(np.linalg.norm(direction))
        if size == 0:
            break
        tries = ((x + step * direction / size) for step in _STEPS)
        norm, slope, place = max(
            ((*_norm_and_slope(branches, place), place) for place in tries), key=lambda one: one[0]
        )
        if norm <= best:
            break
        best, direction, x = norm, slope, place
    return best


def _norm_and_slope(branches: tuple[Branch, Branch], x: Matrix) -> tuple[float, Matrix]:
    """Return the norm of the Jacobian at x, and that norm's gradient by x."""
    hidden = [branch.inner @ x + branch.shift for branch in branches]
    jacobian = sum(b.outer @ (_slope(z)[:, None] * b.inner) for b, z in zip(branches, hidden, strict=True))
    left, sizes, right = np.linalg.svd(np.asarray(jacobian), full_matrices=False)
    u, v = left[:, 0], right[0]
    gradient = sum(
        b.inner.T @ (_curvature(z) * (b.outer.T @ u) * (b.inner @ v)) for b, z in zip(branches, hidden, strict=True)
    )
    return float(sizes[0]), np.asarray(gradient)


def _slope(z: Matrix) -> Matrix:
    """Return GeLU'(z) = Phi(z) + z phi(z)."""
    x = torch.from_numpy(z)
    slope: Matrix = (torch.special.ndtr(x) + x * _density(x)).numpy()
    return slope


def _curvature(z: Matrix) -> Matrix:
    """Return GeLU''(z) = phi(z) (2 - z^2)."""
    x = torch.from_numpy(z)
    curvature: Matrix = (_density(x) * (2 - x * x)).numpy()
    return curvature


def _density(x: Tensor) -> Tensor:
    density: Tensor = torch.exp(-x * x / 2) / (2 * torch.pi) ** 0.5
    return density
