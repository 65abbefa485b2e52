"""What stands before a sublayer in Aff's place, and the mean: of rounded numbers, patches being the rows of tables.

LayerNorm's epsilon is CaiT's, 1e-6, and BatchNorm's the usual 1e-5: the text names none.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from imlp_audit.equations.functions_norm import layer_norm
from imlp_audit.equations.matrix import RoundedMatrix, dot
from imlp_audit.equations.rounded import Rounded, total

from ._network_weights import Column, Map, Weights

Batch = list[RoundedMatrix]  # of each image, the patches by the channels


def over_channels(weights: Weights) -> Map:
    """LayerNorm of a patch."""
    weight, bias = weights.vector("weight"), weights.vector("bias")
    return lambda x: [settle(number) for number in layer_norm(x, 1e-6, weight, bias)]


def unit_length(x: Column) -> Column:
    """x / ||x||_2; if rounding hides whether x is 0, each element is only known to lie in [-1, 1]."""
    norm = dot(x, x).square_root()
    least = norm.value - norm.error
    if least <= 0:
        return [Rounded(0.0, 0.0, 0, 1 + 8 * norm.unit, norm.unit) for _ in x]
    reciprocal = norm.through(lambda value: 1 / value, 1 / least**2, 4 * norm.unit / least)
    return [number * reciprocal for number in x]


def batch_norm(batch: Batch, weights: Weights) -> Batch:
    """Normalise each channel over all patches of all images."""
    weight, bias = weights.vector("weight"), weights.vector("bias")
    channels = list(zip(*(row for x in batch for row in x), strict=True))
    normal = [[n * w + b for n in layer_norm(x, 1e-5)] for x, w, b in zip(channels, weight, bias, strict=True)]
    rows, patches = list(zip(*normal, strict=True)), len(batch[0])
    return [RoundedMatrix(rows[start : start + patches]) for start in range(0, len(rows), patches)]


def running(weights: Weights) -> Map:
    """Normalise each channel by its running mean and variance: twelve roundings of the root's reciprocal."""
    mean, weight, bias = weights.vector("running_mean"), weights.vector("weight"), weights.vector("bias")
    roots = [rounded(1 / sqrt(n.value + 1e-5), 12, n.unit) for n in weights.vector("running_var")]
    return lambda x: [
        (number - m) * root * w + b for number, m, root, w, b in zip(x, mean, roots, weight, bias, strict=True)
    ]


def mean(numbers: Sequence[Rounded]) -> Rounded:
    """Return the mean; a sum, a rounded 1 / n and a product."""
    return rounded(1 / len(numbers), 1, numbers[0].unit) * total(numbers)


def rounded(value: float, steps: int, unit: float) -> Rounded:
    """Return a number that was rounded so often."""
    return Rounded(value, abs(value), steps, 0.0, unit)


def settle(number: Rounded) -> Rounded:
    """Take a number's whole error for one that came in, so that bounds on what follows grow less."""
    return number.through(itself, 1.0, 0.0)


def itself(x: float) -> float:
    """Return the number."""
    return x
