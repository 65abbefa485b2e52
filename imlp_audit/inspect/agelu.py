"""The coefficients that AGeLUs have learned: beta GeLU(alpha x + gamma) + theta (IMLP, Eq. 4)."""

from __future__ import annotations

import numpy as np
import torch

from imlp_audit.equations.lipschitz.slopes import GELU, agelu_slopes
from imlp_audit.inspect.arrays import Matrix, to_array
from imlp_audit.inspect.parts import AgeluPart
from imlp_audit.records.inspection import AgeluCoefficients, Quantiles

_QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


def summarise_coefficients(part: AgeluPart) -> AgeluCoefficients:
    """Summarise the coefficients of one place, and the slopes that its units can have."""
    alpha, beta, gamma, theta = coefficients(part)
    return AgeluCoefficients(
        name=part.name,
        units=len(alpha),
        alpha=quantiles(alpha),
        beta=quantiles(beta),
        gamma=quantiles(gamma),
        theta=quantiles(theta),
        mirrored=int(np.count_nonzero(alpha < 0)),
        reflected=int(np.count_nonzero(beta < 0)),
        flat=int(np.count_nonzero((alpha == 0) | (beta == 0))),
        slopes=find_slopes(part),
    )


def find_slopes(part: AgeluPart) -> tuple[float, float]:
    """Return the smallest and the largest slope that any unit can have, whatever its input."""
    alpha, beta, _, _ = coefficients(part)
    units = [agelu_slopes(a, b, GELU) for a, b in zip(alpha.tolist(), beta.tolist(), strict=True)]
    return min(unit.low for unit in units), max(unit.high for unit in units)


def coefficients(part: AgeluPart) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """Return alpha, beta, gamma and theta, each (units,); one number for all units is repeated."""
    units = max(len(value) for value in part.coefficients)
    alpha, beta, gamma, theta = (np.broadcast_to(to_array(value), (units,)) for value in part.coefficients)
    return alpha, beta, gamma, theta


def curves(part: AgeluPart, x: Matrix) -> Matrix:
    """Return every unit's outputs (units, points) for the inputs x (points,)."""
    alpha, beta, gamma, theta = (value[:, None] for value in coefficients(part))
    return np.asarray(beta * gelu(alpha * x + gamma) + theta)


def gelu(x: Matrix) -> Matrix:
    """Return x Phi(x)."""
    y: Matrix = torch.nn.functional.gelu(torch.from_numpy(x)).numpy()
    return y


def gelu_slope(x: Matrix) -> Matrix:
    """Return the slope of GeLU, Phi(x) + x phi(x)."""
    at = torch.from_numpy(x)
    slope: Matrix = (torch.special.ndtr(at) + at * torch.exp(-at * at / 2) / (2 * torch.pi) ** 0.5).numpy()
    return slope


def quantiles(values: Matrix) -> Quantiles:
    """Return the quantiles of numbers, interpolated between two of them."""
    least, q05, q25, median, q75, q95, largest = np.quantile(values, _QUANTILES).tolist()
    return Quantiles(least=least, q05=q05, q25=q25, median=median, q75=q75, q95=q95, largest=largest)
