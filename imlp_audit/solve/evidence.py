"""The answer of a search as a record: how well readings and counters are known, and what decides them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from math import ceil, floor, inf, prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from imlp_audit.errors import SolverError
from imlp_audit.numbers.interval import decimal_text
from imlp_audit.records.solution import Answered, Searched, SolvedAxis, SolvedCell, SolvedFirst, SolvedWeights
from imlp_audit.solve.answer import Contradiction, SearchAnswer, Solution, Ties, WeightChoice, find_explained
from imlp_audit.solve.layout import Bundle, GroupPart, Layout, lay_out
from imlp_audit.solve.problem import Integers, SearchProblem
from imlp_audit.solve.search import best_readings

FEW = 12
"""Up to so many equally good candidates are called "one of k"."""

_SYSTEMS = 12  # linear programs are solved for so many combinations of a reading and the cells it explains


def describe_answer(
    what: Searched, problem: SearchProblem, answer: SearchAnswer, conventions: Mapping[str, int] | None = None
) -> Answered:
    """Return the answer to a problem; `what` is the kind of its numbers, `conventions` the scores of named ones."""
    readings = {group: len(readings) for group, readings in best_readings(answer.ties).items()}
    whole = answer.score == answer.of and answer.exhaustive
    flops = tuple(cell.id for cell in problem.cells if cell.kind == "flops")
    layout = lay_out(problem)
    weights = tuple(_describe_weights(layout, answer)) if flops else ()
    return Answered(
        what=what,
        flops=flops,
        score=answer.score,
        of=answer.of,
        solutions=answer.count,
        exhaustive=answer.exhaustive,
        bound=answer.bound,
        readings=readings,
        reading=name_certainty(prod(readings.values()), whole=whole) if answer.axes else None,
        counter=_certainty_of_weights(layout, answer, weights, whole=whole) if flops else None,
        named=tuple(_named_among_best(problem, answer)),
        first=_describe_first(problem, answer.first),
        axes=tuple(_describe_axis(problem, answer, axis) for axis in answer.axes),
        weights=weights,
        contradicted=tuple(map(_describe_contradiction, answer.contradicted)),
        disputed=answer.disputed,
        conventions=dict(conventions or {}),
    )


def name_certainty(candidates: int, *, whole: bool = True) -> str:
    """Say how well something is known that has this many equally good candidates.

    Nothing is identified where the answer is not `whole`: some number is unexplained, or the budget ended the search.
    """
    if candidates == 1:
        return "identified" if whole else "agreed"
    return f"one of {candidates}" if candidates <= FEW else "not determined"


def _certainty_of_weights(
    layout: Layout, answer: SearchAnswer, weights: Sequence[SolvedWeights], *, whole: bool
) -> str:
    """Say how well the weights are known: one integer point in a wide polytope is not called identified."""
    counters = _count_counters(answer, layout.bundles)
    if not weights or (counters == 1 and not all(one.identified for one in weights)):
        return "not determined"
    return name_certainty(counters, whole=whole)


def _describe_weights(layout: Layout, answer: SearchAnswer) -> Iterator[SolvedWeights]:
    """Yield each bundle of classes with its sums in the best solutions, and their range over the reals."""
    ranges = _hull([ranges_of(system) for system in islice(systems_of(layout, answer.ties), _SYSTEMS)])
    for axis, (bundle, (low, high)) in enumerate(zip(layout.bundles, ranges, strict=True)):
        sums = sorted({value for choice in _choices(answer, axis) for value in _sums(choice, bundle).tolist()})
        yield SolvedWeights(
            classes=tuple(layout.problem.classes[place] for place in bundle.classes),
            factors=bundle.factors,
            values=tuple(sums),
            low=low,
            high=high,
            rests_on=_evidence_of_weights(layout.problem, answer.first, bundle) if len(sums) == 1 else (),
        )


def _choices(answer: SearchAnswer, axis: int) -> list[WeightChoice]:
    """Return the different choices of a bundle's weights."""
    return list({id(one.weights[axis]): one.weights[axis] for one in answer.ties}.values())


def _sums(choice: WeightChoice, bundle: Bundle) -> Integers:
    return np.unique(choice.options @ np.array(bundle.factors))


def _count_counters(answer: SearchAnswer, bundles: Sequence[Bundle]) -> int:
    """Count the weighted sums under the first solution's rounding: boxes of one run have no weights in common."""
    rounding = answer.first.flops_rounding
    boxes = {tuple(map(id, one.weights)) for one in answer.ties if one.flops_rounding == rounding}
    counts = {
        id(choice): len(_sums(choice, bundle))
        for axis, bundle in enumerate(bundles)
        for choice in _choices(answer, axis)
    }
    return sum(prod(counts[one] for one in weights) for weights in boxes)


def _describe_axis(problem: SearchProblem, answer: SearchAnswer, axis: SolvedAxis) -> SolvedAxis:
    """Return an axis with what it rests on, where the best solutions agree on a value of several."""
    if axis.is_free or len(axis.values) > 1:
        return axis
    return axis.model_copy(update={"rests_on": _evidence_of_axis(problem, answer.first, axis)})


def _named_among_best(problem: SearchProblem, answer: SearchAnswer) -> Iterator[str]:
    """Yield the named readings that are among the best in every group they say something about."""
    best = {group: set(readings.tolist()) for group, readings in best_readings(answer.ties).items()}
    for name, places in problem.named.items():
        known = [group for group in places if group in best]
        if known and all(places[group] in best[group] for group in known):
            yield name


def _describe_first(problem: SearchProblem, first: Solution) -> SolvedFirst:
    return SolvedFirst(
        reading={group: problem.spaces[group].values_at(index) for group, index in first.readings.items()},
        nearest=first.nearest,
        apart=first.apart,
        parameters=first.parameter_convention,
        parameter_rounding=None if first.parameter_rounding is None else str(first.parameter_rounding),
        flops_rounding=None if first.flops_rounding is None else str(first.flops_rounding),
        weights={str(name): w for name, w in zip(problem.classes, first.weights, strict=True) if w},
    )


def _describe_contradiction(one: Contradiction) -> SolvedCell:
    return SolvedCell(id=one.cell, value=one.value, gap=None if one.gap is None else decimal_text(one.gap, 2))


def _evidence_of_axis(problem: SearchProblem, solution: Solution, axis: SolvedAxis) -> tuple[str, ...]:
    """Return the cells that a solution explains and would not with some other tried value of an axis."""
    space = problem.spaces[axis.family]
    place = [name for name, _ in space.axes].index(axis.axis)
    here = np.unravel_index(solution.readings[axis.family], space.shape)

    def others() -> Iterator[Solution]:
        for value in set(range(len(axis.tried))) - {int(here[place])}:
            index = np.ravel_multi_index((*here[:place], value, *here[place + 1 :]), space.shape)
            yield replace(solution, readings={**solution.readings, axis.family: int(index)})

    return _lost(problem, solution, others())


def _evidence_of_weights(problem: SearchProblem, solution: Solution, bundle: Bundle) -> tuple[str, ...]:
    """Return the cells that a solution explains and would not with the next smaller or larger sum of a bundle.

    A sum that is farther away loses these cells as well.
    """
    now = sum(f * solution.weights[c] for f, c in zip(bundle.factors, bundle.classes, strict=True))
    place = int(np.searchsorted(bundle.values, now))

    def others() -> Iterator[Solution]:
        for at in (place - 1, place + 1):
            if 0 <= at < len(bundle.values):
                weights = dict(enumerate(solution.weights))
                weights.update(zip(bundle.classes, bundle.options[bundle.starts[at]].tolist(), strict=True))
                yield replace(solution, weights=tuple(weights.values()))

    return _lost(problem, solution, others())


def _lost(problem: SearchProblem, solution: Solution, others: Iterable[Solution]) -> tuple[str, ...]:
    kept = [set(find_explained(problem, other)) for other in others]
    return tuple(cell for cell in solution.explained if any(cell not in one for one in kept))


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


def _hull(found: Sequence[Bounds]) -> Bounds:
    """Return the range of each sum over all systems."""
    return [(min(low for low, _ in some), _largest(high for _, high in some)) for some in zip(*found, strict=True)]


def _largest(limits: Iterable[float | None]) -> float | None:
    """Return the largest limit; None, which stands for no limit, is larger than all."""
    limit = max(inf if one is None else one for one in limits)
    return None if limit == inf else limit
