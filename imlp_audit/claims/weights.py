"""Claims about learned weights: the layers of a checkpoint that they get, and how noise tests what they say.

Such a claim names in `learned` the tensors that its layers have, and returns a Judgement, or raises UndecidedError.

What is true of the weights is judged by noise of the same shapes too, 19 times: the same numbers in random places. If
the weights had no structure, they and their shuffles would be 20 draws of one kind, so a claim would be true of the
weights alone in at most one case of 20. Where shuffling changes nothing that is measured, as for a share of small
numbers, the noise is 19 draws each of normal and of uniform numbers, which weights are initialised from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import frexp, isqrt
from typing import TypeAlias, assert_never
from zlib import crc32

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imlp_audit.checkpoint.refusal import escape_name
from imlp_audit.records.check import Verdict

Matrix: TypeAlias = NDArray[np.float64]
Values: TypeAlias = Mapping[str, Sequence[float | None]]
"""What was measured, each by a name, layer by layer."""

DRAWS = 19
_MOST_NUMBERS = 1 << 25
_LARGEST = 1e60  # products of four such numbers, and their sums, are still finite


class UndecidedError(Exception):
    """Why these weights cannot decide a claim."""


@dataclass(frozen=True)
class Judgement:
    """Whether a claim is true of the weights, the reason, and what was measured."""

    holds: bool
    reason: str
    values: Values


class Noise(StrEnum):
    """What stands in place of the weights; the value is what a message calls it."""

    SHUFFLED = "the same numbers in random places"
    NORMAL = "normal numbers"
    UNIFORM = "uniform numbers"

    def draw(self, weights: Matrix, random: np.random.Generator) -> Matrix:
        """Return noise in the shape of weights."""
        match self:
            case Noise.SHUFFLED:
                return random.permutation(weights.ravel()).reshape(weights.shape)
            case Noise.NORMAL:
                return random.standard_normal(weights.shape)
            case Noise.UNIFORM:
                return random.uniform(-1, 1, weights.shape)
            case other:
                assert_never(other)


@dataclass(frozen=True)
class LayerWeights:
    """A layer of a checkpoint: `layer["A"]` is the tensor of that letter, `"A" in layer` says whether it has one.

    With `noise` (its kind and the number of the draw) each tensor is noise of its shape, the same each time.
    """

    name: str
    names: Mapping[str, str]
    state: Mapping[str, Tensor]
    image: bool
    noise: tuple[Noise, int] | None = None

    def __contains__(self, letter: str) -> bool:
        """Say whether the layer has a tensor of this letter."""
        return letter in self.names

    def __getitem__(self, letter: str) -> Matrix:
        """Return a tensor in float64. Raises UndecidedError for one whose numbers cannot be used."""
        name = self.names[letter]
        if self.noise is not None:
            return self.noise[0].draw(_to_array(self.state[name]), self.random(letter))
        if reason := _explain_unusable(self.state[name]):
            raise UndecidedError(f"{escape_name(name)} {reason}")
        return _to_array(self.state[name])

    def count(self, letter: str) -> int:
        """Return how many numbers a tensor has."""
        return self.state[self.names[letter]].numel()

    def random(self, letter: str) -> np.random.Generator:
        """Return what a tensor's noise is drawn from."""
        assert self.noise is not None
        kind, number = self.noise
        return np.random.default_rng((list(Noise).index(kind), number, crc32(self.names[letter].encode())))

    def side(self, patches: int) -> int:
        """Return the side of the square grid of an image's patches. Raises UndecidedError if there cannot be one."""
        if not self.image or isqrt(patches) ** 2 != patches:
            raise UndecidedError(f"{self.name}: its {patches} tokens are not the patches of a square grid of an image")
        return isqrt(patches)


Layers: TypeAlias = Sequence[LayerWeights]
Judge: TypeAlias = Callable[[Layers], Judgement]


def judge_weights(judge: Judge, layers: Layers, untrained: str | None, draws: int) -> tuple[Verdict, str, Values]:
    """Judge a sentence: reproduced if it is true of the weights and of no noise. Raises what its function raises.

    Weights that look untrained (the reason) say nothing about a sentence on learned ones.
    """
    try:
        found = judge(layers)
    except UndecidedError as error:
        return Verdict.UNVERIFIABLE, str(error), {}
    if any(len(values) != len(layers) for values in found.values.values()):
        raise ValueError(f"its values are not those of {len(layers)} layers")
    if untrained is not None:
        return Verdict.UNVERIFIABLE, f"{untrained}; measured: {found.reason}", found.values
    if not found.holds:
        return Verdict.DIFFERS, found.reason, found.values
    doubt = _find_doubt(judge, layers, found, draws)
    if doubt is not None:
        return Verdict.UNVERIFIABLE, f"{found.reason}; but {doubt}", found.values
    return Verdict.REPRODUCED, found.reason, found.values


def _find_doubt(judge: Judge, layers: Layers, found: Judgement, draws: int) -> str | None:
    """Return which noise supports a sentence that is true of the weights; None if none does."""
    try:
        same = draws and _judge_noise(judge, layers, Noise.SHUFFLED, 0).values == found.values
        for kind in (Noise.NORMAL, Noise.UNIFORM) if same else (Noise.SHUFFLED,):
            for number in range(draws):
                if _judge_noise(judge, layers, kind, number).holds:
                    return f"{kind} support this too (draw {number + 1} of {draws}), so it shows nothing"
    except UndecidedError as error:
        return f"it could not be asked of noise, so nothing tells it from noise: {error}"
    return None


def _judge_noise(judge: Judge, layers: Layers, kind: Noise, number: int) -> Judgement:
    return judge([replace(layer, noise=(kind, number)) for layer in layers])


def _explain_unusable(value: Tensor) -> str | None:
    if not value.is_floating_point():
        return "does not hold floating-point numbers"
    if not value.numel():
        return "is empty"
    if value.numel() > _MOST_NUMBERS:
        return f"has {value.numel()} numbers; the limit is {_MOST_NUMBERS}"
    numbers = _to_array(value)
    bad = value.numel() - int(np.count_nonzero(np.isfinite(numbers)))
    if bad:
        return f"holds numbers that are not finite: {bad} of {value.numel()}"
    return "holds numbers that are too large to multiply" if np.abs(numbers).max() > _LARGEST else None


def _to_array(value: Tensor) -> Matrix:
    """Return a tensor's numbers in float64, which holds every smaller type exactly."""
    numbers: Matrix = value.to(torch.float64).numpy()
    return numbers


def scale(values: Matrix) -> Matrix:
    """Return numbers times a power of two, so that the largest is near 1 and no square overflows or vanishes."""
    _, exponent = frexp(float(np.abs(values).max(initial=0.0)))
    moved: Matrix = np.ldexp(values, -exponent)
    return moved


def shifts(side: int) -> NDArray[np.intp]:
    """Return the classes (n, n), n = side^2, of equal shift on the grid from patch i to patch j, row by row of patches.

    A matrix that is constant on each has Toeplitz blocks in Toeplitz order, as a convolution of the grid has.
    """
    row, column = np.divmod(np.arange(side * side), side)
    down, right = row[None, :] - row[:, None], column[None, :] - column[:, None]
    return np.asarray((down + side - 1) * (2 * side - 1) + right + side - 1)


def share_of_means(matrix: Matrix, classes: NDArray[np.intp]) -> float | None:
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


def above_half(share: float | None) -> bool:
    """Say whether there is a share, and it is more than one half."""
    return share is not None and share > 0.5


def format_number(value: float | None) -> str:
    """Write a measured number for people."""
    return "none" if value is None else f"{value:.3g}"
