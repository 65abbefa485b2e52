"""Layer normalisation, and a bound on the error of evaluating it.

LayerNorm(x)_c = (x_c - mean) / sqrt(variance + eps) * weight_c + bias_c. Implementations take the mean in one sum
or by Welford's recurrence mean_k = mean_{k-1} + (x_k - mean_{k-1}) / k, which is three roundings a step. Multiplied
out, the magnitudes of its terms are s_k = s_{k-1} (k + 1) / k + |x_k| / k, so s_n = (n + 1) sum_k |x_k| / (k (k + 1)),
at most n (n + 1) / 2 times the mean of |x_k|. The squares of x_k - mean have at most the square of what x_k and such
a mean have, which covers mean(x^2) - mean^2 too. The variance that comes out is never negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt

from imlp_audit.equations.exact import Exact
from imlp_audit.equations.rounded import Rounded, total


def layer_norm(
    x: Sequence[Rounded], eps: float, weight: Sequence[Rounded] = (), bias: Sequence[Rounded] = ()
) -> list[Rounded]:
    """Normalise over all of x; then scale and shift where a weight and a bias are given."""
    mean = _mean(x)
    centred = [number - mean for number in x]
    scale = _reciprocal_root(_mean([number * number for number in centred]), eps)
    normal = [number * scale for number in centred]
    scaled = [number * w for number, w in zip(normal, weight, strict=True)] if weight else normal
    return [number + b for number, b in zip(scaled, bias, strict=True)] if bias else scaled


def _mean(x: Sequence[Rounded]) -> Rounded:
    """The mean, in one sum or by Welford's recurrence."""
    n, summed = len(x), total(x)
    return replace(
        summed,
        value=summed.value / n,
        size=summed.size * (n + 1) / 2,
        steps=summed.steps + 3 * n,
        carried=summed.carried / n,
    )


def _reciprocal_root(variance: Rounded, eps: float) -> Rounded:
    """1 / sqrt(variance + eps).

    The variance is not negative, exact or evaluated, so the root's argument is at least `least`, where the slope
    is 1 / (2 least^(3/2)). Root and division err by 4 u each at most, relatively, and adding the rounded eps by 1 u.
    """
    if isinstance(variance, Exact):
        return Exact.of(variance + eps).reciprocal_root()
    least = max(variance.value - variance.error, 0.0) + eps
    evaluation = 9 * variance.unit / sqrt(least)
    return variance.through(lambda value: 1 / sqrt(max(value, 0.0) + eps), 0.5 * least**-1.5, evaluation)
