"""How well an answer is known, and the numbers that decide it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from imlp_audit.numbers.printed import Rounding
from imlp_audit.records.solution import AxisState, SolvedWeights
from imlp_audit.solve.answer import describe_answer, name_certainty
from imlp_audit.solve.problem import Cell, CountedRow, Kind, SearchProblem, Solution, Space
from imlp_audit.solve.search import solve
from tests.solve.tiny import Candidate, candidates, expanded, problems


@pytest.mark.parametrize(("candidates", "said"), [(1, "identified"), (2, "one of 2"), (13, "not determined")])
def test_the_words(candidates: int, said: str) -> None:
    assert name_certainty(candidates) == said
    assert name_certainty(candidates, whole=False) == ("agreed" if candidates == 1 else said)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(problems())
def test_readings_weights_and_counters_are_those_of_all_solutions(problem: SearchProblem) -> None:
    found = solve(problem)
    answer, solutions = describe_answer("both", problem, found), expanded(problem, found)
    for group, count in answer.readings.items():
        assert count == len({one.readings[group] for one in solutions})
    sums = {one: [_sum(problem, solution, one) for solution in solutions] for one in answer.weights}
    for one, values in sums.items():
        assert one.values == tuple(sorted(set(values)))
    if answer.weights:
        rounding = found.first.flops_rounding
        points = {
            tuple(values[place] for values in sums.values())
            for place, solution in enumerate(solutions)
            if solution.flops_rounding == rounding
        }
        assert answer.counters == len(points)


def _sum(problem: SearchProblem, solution: Solution, bundle: SolvedWeights) -> int:
    places = [problem.classes.index(name) for name in bundle.classes]
    return sum(f * solution.weights[place] for f, place in zip(bundle.factors, places, strict=True))


SPACE = Space((("bias", ("yes", "no")), ("norm", ("none", "layer", "batch"))))
SIZES = {"a": [10, 12, 12, 10, 12, 12], "b": [20, 20, 25, 30, 30, 30]}  # by reading, the norm fastest
WORK = {"a": [[100]] * 6, "b": [[7]] * 6}


def problem_of(**printed: int | tuple[int, int]) -> SearchProblem:
    """Return the problem of two rows, with a number or a range for each cell; `a` is a size and `a_flops` its FLOPs."""
    rows = tuple(CountedRow(f"p/1/{n}", "imlp", {"all": np.array(SIZES[n])}, np.array(WORK[n])) for n in SIZES)
    cells = tuple(_cell(name, value) for name, value in printed.items())
    return SearchProblem(rows, cells, {"imlp": SPACE}, ("linear",), {})


def _cell(name: str, value: int | tuple[int, int]) -> Cell:
    kind: Kind = "flops" if name.endswith("flops") else "parameters"
    ends = value if isinstance(value, tuple) else (value, value)
    return Cell(f"p/1/{name}", list(SIZES).index(name[0]), kind, {Rounding.HALF_UP: ends}, Fraction(1))


def test_an_axis_rests_on_the_numbers_that_its_other_values_would_lose() -> None:
    problem = problem_of(a=12, b=20)
    answer = describe_answer("parameters", problem, solve(problem))
    bias, norm = answer.axes
    assert (bias.values, bias.rests_on) == (("yes",), ("p/1/b",))
    assert (norm.values, norm.rests_on) == (("layer",), ("p/1/a", "p/1/b"))  # a against no norm, b against the other
    assert [answer.state_of(axis) for axis in answer.axes] == [AxisState.PINNED, AxisState.PINNED]


def test_what_is_free_rests_on_nothing() -> None:
    problem = problem_of(a=12)
    answer = describe_answer("parameters", problem, solve(problem))
    bias, norm = answer.axes
    assert (answer.state_of(bias), bias.rests_on) == (AxisState.FREE, ())
    assert (answer.state_of(norm), norm.rests_on) == (AxisState.NARROWED, ())


def test_nothing_is_pinned_or_identified_while_a_number_is_unexplained() -> None:
    """A size of 999 is that of no reading; the best solutions agree on the rest nonetheless."""
    problem = problem_of(a=10, b=999, b_flops=14)
    answer = describe_answer("both", problem, solve(problem))
    norm, (weight,) = answer.axes[1], answer.weights
    assert (answer.unexplained, answer.state_of(norm), norm.rests_on) == (1, AxisState.AGREED, ("p/1/a",))
    assert (answer.reading, answer.counters, weight.values) == ("one of 2", 1, (2,))
    whole = problem_of(a=12, b=20, b_flops=14)
    explained = describe_answer("both", whole, solve(whole))
    assert (explained.reading, explained.counters) == ("identified", 1)
    assert {explained.state_of(axis) for axis in explained.axes} == {AxisState.PINNED}


def test_a_search_that_was_cut_pins_nothing() -> None:
    problem = problem_of(a=12, b=20)
    answer = describe_answer("parameters", problem, solve(problem))
    cut = answer.model_copy(update={"exhaustive": False})
    assert [cut.state_of(axis) for axis in cut.axes] == [AxisState.AGREED, AxisState.AGREED]


def lost(problem: SearchProblem, first: Candidate, other: Candidate) -> set[str]:
    """Return what one candidate explains and another does not, by their own arithmetic."""
    pairs = zip(problem.cells, first.hits(problem), other.hits(problem), strict=True)
    return {cell.id for cell, here, there in pairs if here and not there}


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(problems())
def test_it_is_what_trying_every_other_value_loses(problem: SearchProblem) -> None:
    found = solve(problem)
    answer, chosen = describe_answer("both", problem, found), found.first
    same = [
        one
        for one in candidates(problem)
        if (one.convention, one.weights) == (chosen.parameter_convention, chosen.weights)
        and chosen.parameter_rounding in (None, one.parameter_rounding)
        and chosen.flops_rounding in (None, one.flops_rounding)
    ]
    first = next(one for one in same if dict(one.readings) == dict(chosen.readings))
    for axis in answer.axes:
        space = problem.spaces[axis.family]
        now, expected = space.values_at(chosen.readings[axis.family]), set()
        for other in same:
            there = space.values_at(dict(other.readings)[axis.family])
            apart = {name for name in now if now[name] != there[name]}
            rest = {group: at for group, at in other.readings if group != axis.family}
            if apart == {axis.axis} and all(chosen.readings[group] == at for group, at in rest.items()):
                gone = lost(problem, first, other)
                expected |= gone
                assert len(axis.values) > 1 or len(gone) > len(lost(problem, other, first))
        assert axis.rests_on == (
            tuple(c.id for c in problem.cells if c.id in expected) if len(axis.values) == 1 else ()
        )
