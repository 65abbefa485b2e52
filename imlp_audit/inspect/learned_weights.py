"""Claims about learned weights: the layers of a checkpoint that they get, and how noise tests what they say.

Such a claim names in `learned` the tensors that its layers have, and returns a Judgement, or raises UndecidedError. The
Python of a paper that comes with this package runs in this process, that of any other, if it is trusted, in one of its
own, which is ended when a claim takes too long.

What is true of the weights is judged by noise of the same shapes too, 19 times: the same numbers in random places. If
the weights had no structure, they and their shuffles would be 20 draws of one kind, so a claim would be true of the
weights alone in at most one case of 20. Where shuffling changes nothing that is measured, as for a share of small
numbers, the noise is 19 draws each of normal and of uniform numbers, which weights are initialised from. Weights that
look as if nobody had trained them, their numbers in random places, decide nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from math import comb, frexp, isqrt
from typing import TypeAlias, assert_never
from zlib import crc32

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imlp_audit.checkpoint.container import escape_name
from imlp_audit.checkpoint.contents import BUFFERS
from imlp_audit.claims.catalogue import WeightClaim, read_weight_claims
from imlp_audit.claims.language import load_claim
from imlp_audit.processes.code import explain_distrust, is_bundled, locate_error
from imlp_audit.processes.workers import StoppedError, yield_apart
from imlp_audit.records.check import Verdict
from imlp_audit.records.checkpoint import Statement
from imlp_audit.spec.load import Selection
from imlp_audit.spec.targets import display_path

Matrix: TypeAlias = NDArray[np.float64]
Values: TypeAlias = Mapping[str, Sequence[float | None]]
"""What was measured, each by a name, layer by layer."""
Places: TypeAlias = Mapping[str, Mapping[str, str]]
"""The layers of a checkpoint by their paths: of each letter the name of its tensor."""
_Asked: TypeAlias = tuple[tuple[WeightClaim, Places], ...]

DRAWS = 19
_MOST_NUMBERS = 1 << 25
_LARGEST = 1e60  # products of four such numbers, and their sums, are still finite
_PATIENCE = 300.0  # seconds for a claim, with its noise
_MOST_LAYERS = 512


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


@dataclass(frozen=True)
class WeightsToJudge:
    """What is judged: the tensors, how another process gets them, why they look untrained, and how often to draw."""

    tensors: Mapping[str, Tensor]
    read: Callable[[], Mapping[str, Tensor]]
    untrained: str | None = None
    draws: int = DRAWS


def list_claims(selection: Selection) -> tuple[WeightClaim, ...]:
    """Return what the selected papers claim about learned weights."""
    return tuple(
        claim
        for paper in selection.papers
        if paper.folder is not None
        for claim in read_weight_claims(paper.id, paper.code or paper.folder, display_path(paper.folder))
    )


def find_layers(names: Collection[str], tables: Sequence[Mapping[str, str]]) -> Places:
    """Return the layers of a checkpoint, in their order; a file may list blocks.10 before blocks.2."""
    found: dict[str, dict[str, str]] = {}
    for table in tables:
        first = next(name for name in table.values() if not name.endswith("?"))
        for path in (name.removesuffix(first) for name in names if f".{name}".endswith(f".{first}")):
            all_names = {letter: path + name.removesuffix("?") for letter, name in table.items()}
            held = {letter: name for letter, name in all_names.items() if name in names}
            if path not in found and all(letter in held or name.endswith("?") for letter, name in table.items()):
                found[path] = held
    return {path: found[path] for path in sorted(found, key=_layer_order)}


def _layer_order(path: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key that sorts by words, and by value where a part of the path is a number."""
    return tuple((0, int(one), "") if re.fullmatch(r"[0-9]{1,9}", one) else (1, 0, one) for one in path.split("."))


def judge_claims(
    claims: Sequence[WeightClaim], weights: WeightsToJudge, *, trust_code: bool = False, patience: float = _PATIENCE
) -> Iterator[Statement]:
    """Judge the claims about layers that this checkpoint has. Never raises what a paper's Python raises."""
    for folder, own in groupby(claims, key=lambda one: one.code.folder):
        found = [(claim, find_layers(weights.tensors.keys(), claim.layers)) for claim in own]
        asked = tuple((claim, places) for claim, places in found if places)
        if not asked:
            continue
        many = max(len(places) for _, places in asked)
        if many > _MOST_LAYERS:
            reason = f"the checkpoint has {many} such layers; the limit is {_MOST_LAYERS}"
            yield from (_record(claim, Verdict.UNVERIFIABLE, reason) for claim, _ in asked)
        elif is_bundled(folder):
            yield from _judge_all((asked, weights))
        elif trust_code:
            yield from _judge_elsewhere(asked, weights, patience)
        else:
            reason = explain_distrust(folder, asked[0][0].code.shown_as)
            yield from (_record(claim, Verdict.UNVERIFIABLE, reason) for claim, _ in asked)


def _judge_elsewhere(asked: _Asked, weights: WeightsToJudge, patience: float) -> Iterator[Statement]:
    """Judge in another process, which reads the tensors itself."""
    waiting = [claim for claim, _ in asked]
    try:
        with closing(yield_apart(_judge_all, (asked, replace(weights, tensors={})), patience)) as answers:
            for answer in answers:
                waiting.pop(0)
                yield answer
    except StoppedError as error:
        yield from (_record(one, Verdict.ERROR, f"{one.file}: {error}") for one in waiting)


def _judge_all(given: tuple[_Asked, WeightsToJudge]) -> Iterator[Statement]:
    asked, weights = given
    tensors = weights.tensors or weights.read()
    image = any(value.ndim == 4 and re.search(r"(^|\.)(stem|patch_embed)\.", name) for name, value in tensors.items())
    for claim, places in asked:
        layers = [
            LayerWeights(escape_name(path.removesuffix(".")) or "the module", names, tensors, image)
            for path, names in places.items()
        ]
        yield _judge(claim, layers, weights)


def _judge(claim: WeightClaim, layers: Layers, weights: WeightsToJudge) -> Statement:
    """Judge a claim: reproduced if it is true of the weights and of no noise; what its Python raises is an error."""
    try:
        judge = load_claim(claim.code).function
        found = _ask(judge, layers)
        if any(len(values) != len(layers) for values in found.values.values()):
            raise ValueError(f"its values are not those of {len(layers)} layers")
        verdict, reason = Verdict.DIFFERS, found.reason
        if weights.untrained is not None:
            verdict, reason = Verdict.UNVERIFIABLE, f"{weights.untrained}; measured: {reason}"
        elif found.holds:
            doubt = _find_doubt(judge, layers, found, weights.draws)
            verdict = Verdict.REPRODUCED if doubt is None else Verdict.UNVERIFIABLE
            reason = reason if doubt is None else f"{reason}; but {doubt}"
    except UndecidedError as error:
        verdict, reason, found = Verdict.UNVERIFIABLE, str(error), Judgement(False, "", {})
    except (Exception, SystemExit) as error:
        place = locate_error(error, claim.code.folder, claim.code.shown_as) or claim.file
        return _record(claim, Verdict.ERROR, f"{place}: {type(error).__name__}: {error}")
    by_name = {name: tuple(numbers) for name, numbers in found.values.items()}
    held = {"layers": tuple(layer.name for layer in layers), "values": by_name}
    return _record(claim, verdict, reason).model_copy(update=held)


def _ask(judge: Callable[..., object], layers: Layers) -> Judgement:
    found = judge(layers)
    if not isinstance(found, Judgement):
        raise TypeError(f"it returns {type(found).__name__}, not a Judgement")
    return found


def _find_doubt(judge: Callable[..., object], layers: Layers, found: Judgement, draws: int) -> str | None:
    """Return which noise supports a sentence that is true of the weights; None if none does."""

    def ask_noise(kind: Noise, number: int) -> Judgement:
        return _ask(judge, [replace(layer, noise=(kind, number)) for layer in layers])

    try:
        same = draws and ask_noise(Noise.SHUFFLED, 0).values == found.values
        for kind in (Noise.NORMAL, Noise.UNIFORM) if same else (Noise.SHUFFLED,):
            for number in range(draws):
                if ask_noise(kind, number).holds:
                    return f"{kind} support this too (draw {number + 1} of {draws}), so it shows nothing"
    except UndecidedError as error:
        return f"it could not be asked of noise, so nothing tells it from noise: {error}"
    return None


def _record(claim: WeightClaim, verdict: Verdict, reason: str) -> Statement:
    return Statement(
        id=claim.name, paper=claim.paper, place=claim.place, sentence=claim.printed, measured=claim.measured,
        judged=claim.judged, verdict=verdict, reason=reason,
    )  # fmt: skip


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
    differ = f"{out} of {len(chosen)} matrices differ from their own numbers in random places"
    return f"these weights look untrained: {differ}"


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
