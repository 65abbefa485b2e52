"""The answer of a search as a record: how well readings and counters are known, and what decides them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from imlp_audit.numbers.interval import decimal_text
from imlp_audit.records.solution import Answered, Searched, SolvedAxis, SolvedCell, SolvedFirst, SolvedWeights
from imlp_audit.solve.answer import Contradiction, SearchAnswer, Solution, WeightChoice, find_explained
from imlp_audit.solve.layout import Bundle, Layout, lay_out
from imlp_audit.solve.problem import Integers, SearchProblem
from imlp_audit.solve.search import best_readings

FEW = 12
"""Up to so many equally good candidates are called "one of k"."""


def describe_answer(
    what: Searched, problem: SearchProblem, answer: SearchAnswer, conventions: Mapping[str, int] | None = None
) -> Answered:
    """Return the answer to a problem; `what` is the kind of its numbers, `conventions` the scores of named ones."""
    readings = {group: len(readings) for group, readings in best_readings(answer.ties).items()}
    whole = answer.score == answer.of and answer.exhaustive
    flops = tuple(cell.id for cell in problem.cells if cell.kind == "flops")
    layout = lay_out(problem)
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
        counters=_count_counters(answer, layout.bundles) if layout.bundles else None,
        named=tuple(_named_among_best(problem, answer)),
        first=_describe_first(problem, answer.first),
        axes=tuple(_describe_axis(problem, answer, axis) for axis in answer.axes),
        weights=tuple(_describe_weights(layout, answer)),
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


def _describe_weights(layout: Layout, answer: SearchAnswer) -> Iterator[SolvedWeights]:
    for axis, bundle in enumerate(layout.bundles):
        yield SolvedWeights(
            classes=tuple(layout.problem.classes[place] for place in bundle.classes),
            factors=bundle.factors,
            values=tuple(sorted({value for one in _choices(answer, axis) for value in _sums(one, bundle).tolist()})),
        )


def _choices(answer: SearchAnswer, axis: int) -> list[WeightChoice]:
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


def _lost(problem: SearchProblem, solution: Solution, others: Iterable[Solution]) -> tuple[str, ...]:
    kept = [set(find_explained(problem, other)) for other in others]
    return tuple(cell for cell in solution.explained if any(cell not in one for one in kept))
