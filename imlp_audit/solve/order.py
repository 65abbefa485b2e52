"""The order of the best solutions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import nsmallest
from itertools import product
from typing import TypeAlias

import numpy as np

from imlp_audit.solve.answer import Solution, Ties, WeightChoice, find_explained
from imlp_audit.solve.problem import Integers, SearchProblem

RULE = (
    "First come solutions whose readings differ from a named reading of the spec on the fewest axes, then those that "
    "depart from the text on the fewest axes, then those with the paper's default rounding rule, then those with the "
    "smallest sum of weights; what is still equal is ordered by parameter convention as they are listed, by weights, "
    "the larger one on the class listed first, and by readings as they are listed."
)

Departures: TypeAlias = tuple[int, int]
"""Axes that differ from the nearest named reading, and from the text's."""

Rules: TypeAlias = tuple[int, int]
"""The places of the rounding rules of parameters and of FLOPs among those of the problem, the default first."""

Key: TypeAlias = tuple[Departures, Rules, int, int, tuple[int, ...], tuple[int, ...]]


class Nearness:
    """How many axes each reading differs on from the named ones, and from the text's."""

    def __init__(self, problem: SearchProblem) -> None:
        self.names: tuple[str | None, ...] = tuple(problem.named) or (None,)
        self._apart = {
            (name, group): _apart(space.shape, problem.named.get(name or "", {}).get(group))
            for name in (*self.names, problem.text)
            for group, space in problem.spaces.items()
        }
        self._text = problem.text
        self._least: dict[tuple[int, ...], tuple[Departures, Mapping[str, Integers]]] = {}

    def least(self, readings: Mapping[str, Integers]) -> Departures:
        """Return a lower bound on the departure of any combination of the readings."""
        key = tuple(map(id, readings.values()))  # many ties share the arrays; this keeps them alive
        if key not in self._least:
            from_names = min(self._nearest(name, readings) for name in self.names)
            self._least[key] = (from_names, self._nearest(self._text, readings)), readings
        return self._least[key][0]

    def _nearest(self, name: str | None, readings: Mapping[str, Integers]) -> int:
        return sum(int(self._apart[name, group][some].min()) for group, some in readings.items())

    def nearest(self, reading: Sequence[int], groups: Sequence[str]) -> tuple[int, str | None]:
        """Return on how many axes one combination differs from the nearest named reading, and its name."""
        return min(
            ((self._sum(name, reading, groups), name) for name in self.names),
            key=lambda found: found[0],
        )

    def departures(self, reading: Sequence[int], groups: Sequence[str]) -> Departures:
        """Return how far one combination departs from the nearest named reading, and from the text."""
        return self.nearest(reading, groups)[0], self._sum(self._text, reading, groups)

    def _sum(self, name: str | None, reading: Sequence[int], groups: Sequence[str]) -> int:
        return sum(int(self._apart[name, group][one]) for group, one in zip(groups, reading, strict=True))

    def first(self, readings: Mapping[str, Integers], most: int) -> list[tuple[Departures, tuple[int, ...]]]:
        """Return the combinations, one reading for each group, that depart least.

        Those nearest to one name are made of the readings that are nearest in each group, as departures add up; and
        the first of all are among the first of each name.
        """
        groups = list(readings)
        found = {
            combination
            for name in self.names
            for combination in product(*(self._order(name, group, some)[:most] for group, some in readings.items()))
        }
        return nsmallest(most, ((self.departures(one, groups), one) for one in found))

    def _order(self, name: str | None, group: str, readings: Integers) -> list[int]:
        order = np.lexsort((readings, self._apart[self._text, group][readings], self._apart[name, group][readings]))
        places: list[int] = readings[order].tolist()
        return places


def _apart(shape: tuple[int, ...], index: int | None) -> Integers:
    """Count for each reading the axes on which it differs from a named one that states them."""
    if index is None:
        return np.zeros(int(np.prod(shape)), dtype=np.int64)
    here, all_ = np.unravel_index(index, shape), np.indices(shape).reshape(len(shape), -1)
    count: Integers = (all_ != np.array(here)[:, np.newaxis]).sum(axis=0)
    return count


def first_solutions(problem: SearchProblem, ties: Iterable[Ties], most: int) -> tuple[Solution, ...]:
    """Return the first solutions of all ties, in the order of RULE.

    Ties are taken by the least that any solution in them could have for the first four parts of the order, so that
    the rest can be left out as soon as enough solutions come before it.
    """
    nearness = Nearness(problem)
    bounded = sorted(
        (
            (nearness.least(one.readings), _rules(problem, one), sum(c.least_sum for c in one.weights), place, one)
            for place, one in enumerate(ties)
        ),
        key=lambda entry: entry[:4],
    )
    best: list[tuple[Key, Ties]] = []
    for departures, rules, least, _, one in bounded:
        if len(best) == most and best[-1][0][:3] < (departures, rules, least):
            break
        if len(best) == most:
            ((departures, _),) = nearness.first(one.readings, 1)
            if best[-1][0][:5] < (departures, rules, *_least_weights(problem, one)):
                continue
        new = [(key, one) for key in _keys(problem, nearness, one, most)]
        best = nsmallest(most, [*best, *new], key=lambda entry: entry[0])
    return tuple(_solution(problem, nearness, key, one) for key, one in best)


def _keys(problem: SearchProblem, nearness: Nearness, ties: Ties, most: int) -> Iterator[Key]:
    counted = problem.conventions.index(ties.parameter_convention) if ties.parameter_convention else 0
    rules = _rules(problem, ties)
    weights = _first_weights(ties.weights, len(problem.classes), most)
    for departures, reading in nearness.first(ties.readings, most):
        for total, negated in weights:
            yield departures, rules, total, counted, negated, reading


def _least_weights(problem: SearchProblem, ties: Ties) -> tuple[int, int, tuple[int, ...]]:
    """Return what the weights of ties add to a key at least, in the order of a key."""
    counted = problem.conventions.index(ties.parameter_convention) if ties.parameter_convention else 0
    weights = [0] * len(problem.classes)
    for choice in ties.weights:
        for place, weight in zip(choice.classes, choice.first, strict=True):
            weights[place] = -weight
    return -sum(weights), counted, tuple(weights)


def _rules(problem: SearchProblem, ties: Ties) -> Rules:
    parameters, flops = (
        problem.roundings.index(rule) if rule else 0 for rule in (ties.parameter_rounding, ties.flops_rounding)
    )
    return parameters, flops


def _first_weights(choices: Sequence[WeightChoice], classes: int, most: int) -> list[tuple[int, tuple[int, ...]]]:
    """Return the weights of the smallest sums, negated, so that the larger one on the class listed first comes first.

    One choice is added after another. What is beaten by `most` others stays beaten by them, whatever weights
    follow, since the same are added to all.
    """
    first = [(0, (0,) * classes)]
    for choice in choices:
        options = nsmallest(most, ((int(row.sum()), tuple((-row).tolist())) for row in choice.options))
        first = nsmallest(
            most,
            ((a + b, _with(weights, choice.classes, option)) for a, weights in first for b, option in options),
        )
    return first


def _with(weights: tuple[int, ...], places: tuple[int, ...], option: tuple[int, ...]) -> tuple[int, ...]:
    new = list(weights)
    for place, weight in zip(places, option, strict=True):
        new[place] = weight
    return tuple(new)


def _solution(problem: SearchProblem, nearness: Nearness, key: Key, ties: Ties) -> Solution:
    *_, negated, reading = key
    apart, name = nearness.nearest(reading, list(ties.readings))
    bare = Solution(
        readings=dict(zip(ties.readings, reading, strict=True)),
        parameter_convention=ties.parameter_convention,
        parameter_rounding=ties.parameter_rounding,
        flops_rounding=ties.flops_rounding,
        weights=tuple(-weight for weight in negated),
        nearest=name,
        apart=apart,
    )
    return replace(bare, explained=find_explained(problem, bare))
