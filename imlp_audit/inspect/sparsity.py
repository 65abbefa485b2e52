"""The rate of weights whose absolute value is lower than 5 % of the maximum (ResMLP, Sec. 3.3 and Fig. 3)."""

from __future__ import annotations

from math import erf, sqrt
from statistics import NormalDist

from torch import Tensor

from imlp_audit.inspect.numbers import parts
from imlp_audit.records.inspection import Sparsity

_SHARE = 20  # 5 % is a twentieth


def sparsity(matrix: str, name: str, weights: Tensor) -> Sparsity:
    """Count the weights below 5 % of the largest. `matrix` is the paper's letter, `name` the checkpoint's name."""
    top = max(float(part.abs().max()) for part in parts(weights))
    below = sum(int((part.abs() < top / _SHARE).sum()) for part in parts(weights))
    zeros = sum(int((part == 0).sum()) for part in parts(weights))
    of = weights.numel()
    return Sparsity(matrix=matrix, name=name, below=below, zeros=zeros, of=of, normal=rate_of_normal(of))


def rate_of_normal(count: int) -> float:
    """Return what share of `count` independent normal numbers is expected below 5 % of the median of their largest.

    Their largest absolute value is below m with the probability (2 Phi(m) - 1)^count.
    """
    largest = NormalDist().inv_cdf((1 + 0.5 ** (1 / count)) / 2)
    return erf(largest / _SHARE / sqrt(2))
