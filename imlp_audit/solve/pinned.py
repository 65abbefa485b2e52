"""What all best solutions agree on, the cells that none of them explains, and those that some do not."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from imlp_audit.numbers.printed import Rounding
from imlp_audit.solve.answer import Axis, Choice, Contradiction, Miss, Ties, Weight
from imlp_audit.solve.problem import Cell, Integers, Problem


def readings_of(ties: Sequence[Ties]) -> dict[str, Integers]:
    """Return the readings of each group that some best solution has, ascending."""
    groups: dict[str, dict[int, Integers]] = {}
    for one in ties:
        for group, readings in one.readings.items():
            groups.setdefault(group, {})[id(readings)] = readings  # many ties share one array
    return {group: np.unique(np.concatenate(list(some.values()))) for group, some in groups.items()}


def axes_of(problem: Problem, ties: Sequence[Ties]) -> Iterator[Axis]:
    """Yield each axis of each group that some cell takes, with its values in the best solutions."""
    for group, readings in readings_of(ties).items():
        space = problem.spaces[group]
        for (name, tried), places in zip(space.axes, np.unravel_index(readings, space.shape), strict=True):
            yield Axis(group, name, tuple(tried[place] for place in np.unique(places)), tried)


def weights_of(problem: Problem, ties: Sequence[Ties]) -> Iterator[Weight]:
    """Yield each class of work with its weights in the best solutions."""
    choices: dict[int, Choice] = {id(choice): choice for one in ties for choice in one.weights}
    found: dict[int, set[int]] = {}
    for choice in choices.values():
        for place, column in zip(choice.classes, choice.options.T, strict=True):
            found.setdefault(place, set()).update(np.unique(column).tolist())
    for place, name in enumerate(problem.classes):
        if place in found:
            yield Weight(name, tuple(sorted(found[place])), works=True)
        else:
            works = any(problem.rows[c.row].work[:, place].any() for c in problem.cells if c.kind == "flops")
            yield Weight(name, (0,) if works else problem.weights_of(name), works)


def contradictions(problem: Problem, ties: Sequence[Ties], near: Mapping[int, Miss]) -> Iterator[Contradiction]:
    """Yield the cells that no best solution explains; `near` has how near the best come to each cell of FLOPs."""
    for place, cell in enumerate(problem.cells):
        miss = near.get(place) if cell.kind == "flops" else _nearest_size(problem, cell, ties)
        if miss is None:
            yield Contradiction(cell.id, None, None)
        elif miss.distance:
            yield Contradiction(cell.id, miss.value, Fraction(miss.gap) / cell.step)


def disputed(problem: Problem, ties: Sequence[Ties], missed: Collection[int]) -> Iterator[str]:
    """Yield the cells that some best solutions explain and others do not.

    `missed` are the positions of the cells of FLOPs that some solution does not explain.
    """
    for place, cell in enumerate(problem.cells):
        if cell.kind == "flops" and place in missed:
            yield cell.id
        if cell.kind == "parameters" and any(
            _misses(values, least, most) for values, least, most in _counts(problem, cell, ties)
        ):
            yield cell.id


def _nearest_size(problem: Problem, cell: Cell, ties: Sequence[Ties]) -> Miss | None:
    """Return how near the best solutions come to a printed size; None where none has a count for it."""
    found = _counts(problem, cell, ties)
    return min((miss_of(sizes, least, most) for sizes, least, most in found if sizes is not None), default=None)


def _misses(sizes: Integers | None, least: int, most: int) -> bool:
    return sizes is None or bool(np.any((sizes < least) | (sizes > most)))


def _counts(problem: Problem, cell: Cell, ties: Sequence[Ties]) -> Iterator[tuple[Integers | None, int, int]]:
    """Yield for each way that the best solutions count and round sizes what they give for one, and its range."""
    row = problem.rows[cell.row]
    settings: dict[tuple[str | None, Rounding | None], list[Ties]] = {}
    for one in ties:
        settings.setdefault((one.parameter_convention, one.parameter_rounding), []).append(one)
    for (convention, rounding), some in settings.items():
        if rounding is not None:
            yield _sizes(row.parameters.get(convention or ""), row.group, some), *cell.ranges[rounding]


def _sizes(sizes: Integers | None, group: str, ties: Sequence[Ties]) -> Integers | None:
    return sizes if sizes is None or len(sizes) == 1 else sizes[readings_of(ties)[group]]


def miss_of(values: Integers, least: int, most: int) -> Miss:
    """Return how near some values come to a range."""
    gaps = np.where(values < least, values - least, np.maximum(values - most, 0))
    place = int(np.abs(gaps).argmin())
    return Miss(abs(int(gaps[place])), int(gaps[place]), int(values[place]))
