"""What a decided axis or weight rests on: the printed numbers that are lost when it alone takes another value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from imlp_audit.records.solution import SolvedAxis
from imlp_audit.solve.answer import Solution, find_explained
from imlp_audit.solve.problem import SearchProblem
from imlp_audit.solve.weights import Bundle


def grounds_of_axis(problem: SearchProblem, solution: Solution, axis: SolvedAxis) -> tuple[str, ...]:
    """Return the cells that a solution explains and would not with some other tried value of an axis."""
    space = problem.spaces[axis.family]
    place = [name for name, _ in space.axes].index(axis.axis)
    here = np.unravel_index(solution.readings[axis.family], space.shape)

    def others() -> Iterator[Solution]:
        for value in set(range(len(axis.tried))) - {int(here[place])}:
            index = np.ravel_multi_index((*here[:place], value, *here[place + 1 :]), space.shape)
            yield replace(solution, readings={**solution.readings, axis.family: int(index)})

    return _lost(problem, solution, others())


def grounds_of_weights(problem: SearchProblem, solution: Solution, bundle: Bundle) -> tuple[str, ...]:
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
