"""Tables printed from a known reading and known weights: the search finds them again."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from imlp_audit.numbers.printed import Rounding
from imlp_audit.solve.problem import Cell, SearchAnswer, SearchProblem
from imlp_audit.solve.search import solve
from tests.solve.table1 import CLASSES, READINGS, SPACE, planted

RULES = (Rounding.HALF_UP, Rounding.TRUNCATION)
DRAWN = random.Random(2305)
TRUTHS = [
    (DRAWN.randrange(READINGS), tuple(DRAWN.randrange(7) for _ in CLASSES), DRAWN.choice(RULES)) for _ in range(25)
]


def under(problem: SearchProblem, rules: tuple[Rounding, ...]) -> SearchProblem:
    """Return the problem with fewer rounding rules to try."""
    cells = tuple(replace(c, ranges={rule: c.ranges[rule] for rule in rules}) for c in problem.cells)
    return replace(problem, cells=cells)


def holds(answer: SearchAnswer, reading: int, weights: tuple[int, ...], rounding: Rounding) -> bool:
    """Say whether a truth is among the ties."""
    return any(
        ties.flops_rounding == rounding
        and reading in ties.readings["imlp"]
        and all(
            (choice.options == [weights[place] for place in choice.classes]).all(1).any() for choice in ties.weights
        )
        for ties in answer.ties
    )


@pytest.mark.daily(8)
@pytest.mark.parametrize(("reading", "weights", "rounding"), TRUTHS)
def test_the_truth_is_in_the_best_set(reading: int, weights: tuple[int, ...], rounding: Rounding) -> None:
    answer = solve(under(planted(reading, weights, rounding), RULES))
    assert (answer.score, answer.of) == (44, 44)
    assert answer.exhaustive
    assert answer.contradicted == ()
    assert holds(answer, reading, weights, rounding)
    values = dict(zip((name for name, _ in SPACE.axes), np.unravel_index(reading, SPACE.shape), strict=True))
    for axis in answer.axes:
        assert axis.tried[int(values[axis.axis])] in axis.values


@pytest.mark.daily(1)
@pytest.mark.parametrize("place", [0, 3, 21, 42])
def test_a_cell_moved_out_of_reach_is_named(place: int) -> None:
    """By 7 % up, which nothing explains that explains the rest."""
    reading, weights, _ = TRUTHS[0]
    problem = under(planted(reading, weights), (Rounding.HALF_UP,))
    moved = moved_by(problem.cells[place], 7)
    cells = (*problem.cells[:place], moved, *problem.cells[place + 1 :])
    answer = solve(replace(problem, cells=cells))
    assert (answer.score, [one.id for one in answer.contradicted]) == (43, [moved.id])
    value, gap = answer.contradicted[0].value, answer.contradicted[0].gap
    assert value is not None
    assert gap is not None
    exact = (value - moved.ranges[Rounding.HALF_UP][0]) / moved.step
    assert Fraction(gap) == round(exact, 2) < -1


def moved_by(cell: Cell, percent: int) -> Cell:
    """Return the cell with a printed number that is so much larger."""
    low, _ = cell.ranges[Rounding.HALF_UP]
    units = low * percent // 100 // int(cell.step)
    move = units * int(cell.step)
    return replace(cell, ranges={rule: (a + move, b + move) for rule, (a, b) in cell.ranges.items()})
