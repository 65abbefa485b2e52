"""How far weights could be moved, and the words for it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from imlp_audit.numbers.printed import Rounding
from imlp_audit.solve.certainty import Inequalities, certainty, ranges_of, word
from imlp_audit.solve.problem import Cell, CountedRow, SearchProblem
from imlp_audit.solve.search import solve
from tests.solve.tiny import expanded, problems


def problem_of(work: list[list[int]], ranges: list[tuple[int, int]]) -> SearchProblem:
    rows = tuple(CountedRow(f"p/1/r{i}", "", {}, np.array([amounts])) for i, amounts in enumerate(work))
    cells = tuple(
        Cell(f"p/1/r{i}/flops", i, "flops", {Rounding.HALF_UP: one}, Fraction(1)) for i, one in enumerate(ranges)
    )
    return SearchProblem(rows, cells, {}, tuple(f"class{i}" for i in range(len(work[0]))), {})


def test_two_rows_that_tell_two_classes_apart_identify_their_weights() -> None:
    problem = problem_of([[1000, 10], [10, 1000]], [(2030, 2030), (3020, 3020)])
    sure = certainty(problem, solve(problem))
    assert (sure.counters, sure.counter) == (1, "identified")
    assert [one.identified for one in sure.ranges] == [True, True]
    assert [(one.low, one.high) for one in sure.ranges] == [(1.999, 2.001), (2.999, 3.001)]


def test_one_integer_point_in_a_wide_polytope_is_not_called_identified() -> None:
    """The rows demand 2 <= x <= 6 and 609 <= 70 x + 110 y <= 611: of integers (4, 3) alone, of y 189/110 to 471/110."""
    problem = problem_of([[70, 110], [71, 110]], [(609, 611), (613, 615)])
    answer = solve(problem)
    assert (answer.count, answer.solutions[0].weights) == (1, (4, 3))
    sure = certainty(problem, answer)
    assert (sure.counters, sure.counter) == (1, "not determined")
    assert [(one.low, one.high) for one in sure.ranges] == [(1.999, 6.001), (1.718, 4.282)]


def test_no_row_limits_a_class_without_work_in_it() -> None:
    system = Inequalities(np.array([[2.0, 0.0]]), np.array([3.0]), np.array([5.0]))
    assert ranges_of(system) == [(1.499, 2.501), (0.0, None)]


@pytest.mark.parametrize(("candidates", "said"), [(1, "identified"), (2, "one of 2"), (13, "not determined")])
def test_the_words(candidates: int, said: str) -> None:
    assert word(candidates) == said
    assert word(candidates, whole=False) == ("agreed" if candidates == 1 else said)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(problems())
def test_best_weights_lie_in_their_ranges(problem: SearchProblem) -> None:
    answer = solve(problem)
    sure = certainty(problem, answer)
    solutions = expanded(problem, answer)
    assert sure.readings == {axis.family: sure.readings[axis.family] for axis in answer.axes}
    for group, count in sure.readings.items():
        assert count == len({one.readings[group] for one in solutions})
    for found in sure.ranges:
        places = [problem.classes.index(name) for name in found.classes]
        sums = {sum(f * one.weights[p] for f, p in zip(found.factors, places, strict=True)) for one in solutions}
        assert found.values == tuple(sorted(sums))
    rounding = answer.solutions[0].flops_rounding
    points = {
        tuple(
            sum(f * one.weights[problem.classes.index(name)] for f, name in zip(r.factors, r.classes, strict=True))
            for r in sure.ranges
        )
        for one in solutions
        if one.flops_rounding == rounding
    }
    assert sure.counters == len(points)
    if sure.all_systems and sure.ranges and any(cell.kind == "flops" for cell in problem.cells):
        explained = [found for found in sure.ranges if found.high is not None]
        assert all(found.low <= value <= (found.high or 0) for found in explained for value in found.values)
