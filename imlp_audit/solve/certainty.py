"""How certain an answer is: how many solutions are equally good, and how far real weights could move."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from math import ceil, floor, inf, prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from imlp_audit.errors import SolverError
from imlp_audit.records.solution import SolvedWeights
from imlp_audit.solve.answer import SearchAnswer, Ties, WeightChoice
from imlp_audit.solve.grounds import grounds_of_weights
from imlp_audit.solve.parts import GroupPart, Layout, lay_out
from imlp_audit.solve.problem import SearchProblem
from imlp_audit.solve.ties import best_readings
from imlp_audit.solve.weights import Bundle

FEW = 12
"""Up to so many equally good candidates are called "one of k"."""

_SYSTEMS = 12  # linear programs are solved for so many combinations of a reading and the cells it explains


@dataclass(frozen=True)
class Certainty:
    """How well readings and counters are known, in words and in numbers.

    `readings` counts the best readings of each group, `counters` the best combinations of weights that some number
    could tell apart, under the rounding of the first solution. `all_systems` says whether `ranges` are over all
    best readings, or over the first ones alone. Nothing is identified where the answer is not `whole`: some number is
    unexplained, or the budget ended the search.
    """

    readings: Mapping[str, int]
    counters: int
    ranges: tuple[SolvedWeights, ...]
    all_systems: bool
    whole: bool

    @property
    def reading(self) -> str:
        """How well the readings are known."""
        return word(prod(self.readings.values()), whole=self.whole)

    @property
    def counter(self) -> str:
        """How well the weights are known: one integer point in a wide polytope is not called identified."""
        if not self.ranges or (self.counters == 1 and not all(one.identified for one in self.ranges)):
            return "not determined"
        return word(self.counters, whole=self.whole)


def word(candidates: int, *, whole: bool = True) -> str:
    """Say how well something is known that has this many equally good candidates."""
    if candidates == 1:
        return "identified" if whole else "agreed"
    return f"one of {candidates}" if candidates <= FEW else "not determined"


def certainty(problem: SearchProblem, answer: SearchAnswer) -> Certainty:
    """Return how certain an answer to a problem is."""
    layout = lay_out(problem)
    bundles = layout.bundles
    systems = list(islice(systems_of(layout, answer.ties), _SYSTEMS + 1))
    ranges = hull([ranges_of(system) for system in systems[:_SYSTEMS]])
    values = [tuple(sorted(_values(answer, axis, bundle))) for axis, bundle in enumerate(bundles)]
    return Certainty(
        readings={group: len(readings) for group, readings in best_readings(answer.ties).items()},
        counters=_counters(answer, bundles),
        ranges=tuple(
            SolvedWeights(
                classes=tuple(problem.classes[place] for place in bundle.classes),
                factors=bundle.factors,
                values=sums,
                low=low,
                high=high,
                rests_on=grounds_of_weights(problem, answer.solutions[0], bundle) if len(sums) == 1 else (),
            )
            for sums, bundle, (low, high) in zip(values, bundles, ranges, strict=True)
        ),
        all_systems=len(systems) <= _SYSTEMS,
        whole=answer.score == answer.of and answer.exhaustive,
    )


def _values(answer: SearchAnswer, axis: int, bundle: Bundle) -> set[int]:
    """Return the weighted sums of a bundle in the best solutions."""
    return {int(value) for choice in _choices(answer, axis) for value in choice.options @ np.array(bundle.factors)}


def _choices(answer: SearchAnswer, axis: int) -> list[WeightChoice]:
    """Return the different choices of a bundle's weights."""
    return list({id(one.weights[axis]): one.weights[axis] for one in answer.ties}.values())


def _counters(answer: SearchAnswer, bundles: tuple[Bundle, ...]) -> int:
    """Count the combinations of weighted sums: boxes of one run have no weights in common."""
    rounding = answer.solutions[0].flops_rounding
    boxes = {tuple(map(id, one.weights)) for one in answer.ties if one.flops_rounding == rounding}
    counts = {
        id(choice): len(np.unique(choice.options @ np.array(bundle.factors)))
        for axis, bundle in enumerate(bundles)
        for choice in _choices(answer, axis)
    }
    return sum(prod(counts[one] for one in weights) for weights in boxes)


_PARTS = 1000  # a bound is rounded outward to one of so many parts of a weight

Bounds: TypeAlias = list[tuple[float, float | None]]
"""The least and the largest value of each weighted sum; None where there is no limit."""


@dataclass(frozen=True, eq=False)
class Inequalities:
    """What explained cells demand of weighted sums v: low <= work @ v <= high; `work` is (cells, bundles)."""

    work: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def systems_of(layout: Layout, solutions: Sequence[Ties]) -> Iterator[Inequalities]:
    """Yield, each once, the systems of the cells of FLOPs that the best readings explain."""
    known: set[bytes] = set()
    places = [_places(part) for part in layout.parts]
    for ties in solutions:
        best = [_profiles(part, of, ties) for part, of in zip(layout.parts, places, strict=True)]
        for profiles in product(*best):
            system = _system(layout, ties, profiles)
            key = system.work.tobytes() + system.low.tobytes()
            if key not in known:
                known.add(key)
                yield system


def _places(part: GroupPart) -> Mapping[int, int]:
    """Return the profile of each reading of a part."""
    return {reading: at for at, profile in enumerate(part.readings) for reading in profile.tolist()}


def _profiles(part: GroupPart, places: Mapping[int, int], ties: Ties) -> list[int]:
    """Return the profiles of a part's best readings."""
    return sorted({places[reading] for reading in ties.readings[part.group].tolist()}) if part.group else [0]


def _system(layout: Layout, ties: Ties, profiles: tuple[int, ...]) -> Inequalities:
    """Return the system of the cells explained: by all weights of the ties, so by the first of each choice."""
    cells = layout.problem.cells
    work = np.concatenate([part.work[..., at] for part, at in zip(layout.parts, profiles, strict=True)])
    places = [place for part in layout.parts for place in part.flops]
    ranges = [cells[place].ranges[ties.flops_rounding] for place in places] if ties.flops_rounding else []
    low, high = np.array(ranges, dtype=np.float64).reshape(-1, 2).T
    sums = [choice.options[0] @ np.array(b.factors) for choice, b in zip(ties.weights, layout.bundles, strict=True)]
    totals = work @ np.array(sums, dtype=np.float64)
    inside = (low <= totals) & (totals <= high)
    return Inequalities(work[inside], low[inside], high[inside])


def ranges_of(system: Inequalities) -> Bounds:
    """Return the range of each weighted sum over the reals of none or more, rounded outward.

    Linear programming gives every other solution as well, so a sum may be moved through its range only together
    with others. Rows are scaled by the width of their interval, for the tolerances of the solver.
    """
    width = system.high - system.low + 1
    work, low, high = system.work / width[:, np.newaxis], system.low / width, system.high / width
    demands, limits = np.concatenate([work, -work]), np.concatenate([high, -low])
    bounds: Bounds = []
    for axis in range(work.shape[1]):
        goal = np.zeros(work.shape[1])
        goal[axis] = 1
        least, most = (_optimum(sign * goal, demands, limits) for sign in (1, -1))
        assert least is not None, "no sum is below zero"
        bounds.append((_outward(least, -1), None if most is None else _outward(-most, 1)))
    return bounds


def _optimum(goal: NDArray[np.float64], demands: NDArray[np.float64], limits: NDArray[np.float64]) -> float | None:
    """Return the least value of a goal, None where there is no limit."""
    from scipy.optimize import linprog  # half a second to import, and only needed here

    result = linprog(goal, A_ub=demands, b_ub=limits, bounds=(0, None), method="highs")
    if result.status == 3:
        return None
    if result.status != 0:
        raise SolverError(f"the range of a weight was not found: {result.message}")
    return float(result.fun)


def _outward(value: float, sign: int) -> float:
    scaled = value * _PARTS + sign * 1e-3  # what the solver's tolerances may hide
    return max(0, ceil(scaled) if sign > 0 else floor(scaled)) / _PARTS


def hull(found: Sequence[Bounds]) -> Bounds:
    """Return the range of each sum over all systems."""
    return [(min(low for low, _ in some), _largest(high for _, high in some)) for some in zip(*found, strict=True)]


def _largest(limits: Iterable[float | None]) -> float | None:
    """Return the largest limit; None, which stands for no limit, is larger than all."""
    limit = max(inf if one is None else one for one in limits)
    return None if limit == inf else limit
