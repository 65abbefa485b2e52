"""The search against trying everything."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imlp_audit.errors import SolverError
from imlp_audit.numbers.printed import Rounding
from imlp_audit.solve import BUDGET, branch_and_bound
from imlp_audit.solve.problem import Cell, CountedRow, SearchProblem, Solution, find_explained
from imlp_audit.solve.search import best_score, null_scores, shift_digits, solve
from tests.solve.table1 import planted
from tests.solve.tiny import NAMED, SPACES, Candidate, candidates, expanded, problems


def best_of(problem: SearchProblem) -> tuple[int, list[Candidate]]:
    every = [(sum(one.hits(problem)), one) for one in candidates(problem)]
    score = max(hits for hits, _ in every)
    return score, [one for hits, one in every if hits == score]


def key(problem: SearchProblem, one: Candidate | Solution) -> tuple[object, ...]:
    """What tells candidates apart; of rounding rules, those that some cell is rounded by."""
    kinds = {cell.kind for cell in problem.cells}
    readings = one.readings.items() if isinstance(one, Solution) else one.readings
    convention = one.parameter_convention if isinstance(one, Solution) else one.convention
    return (
        tuple(sorted(readings)),
        convention,
        one.parameter_rounding if "parameters" in kinds else None,
        one.flops_rounding if "flops" in kinds else None,
        one.weights,
    )


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(problems())
def test_the_best_score_and_all_ties_are_those_of_trying_everything(problem: SearchProblem) -> None:
    score, best = best_of(problem)
    answer = solve(problem)
    assert answer.score == answer.bound == score
    assert answer.exhaustive
    found = [key(problem, one) for one in expanded(problem, answer)]
    assert len(found) == len(set(found)) == answer.count
    assert set(found) == {key(problem, one) for one in best}


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(problems())
def test_the_score_alone_is_the_same(problem: SearchProblem) -> None:
    score, _ = best_of(problem)
    assert best_score(problem) == (score, score)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(problems())
def test_pinned_and_free_axes(problem: SearchProblem) -> None:
    _, best = best_of(problem)
    answer = solve(problem)
    for axis in answer.axes:
        space = problem.spaces[axis.family]
        place = [name for name, _ in space.axes].index(axis.axis)
        at = {np.unravel_index(dict(one.readings)[axis.family], space.shape)[place] for one in best}
        assert axis.values == tuple(axis.tried[i] for i in sorted(at))
        assert axis.is_free == (len(at) == len(axis.tried))


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(problems())
def test_contradicted_cells_have_the_nearest_miss_of_the_best_solutions(problem: SearchProblem) -> None:
    _, best = best_of(problem)
    told = {one.id: one for one in solve(problem).contradicted}
    for place, cell in enumerate(problem.cells):
        missed = not any(one.hits(problem)[place] for one in best)
        assert (cell.id in told) == missed
        if missed:
            gaps = [gap for one in best for gap in gap_of(one, problem, place)]
            assert (told[cell.id].gap is None) == (not gaps)
            assert gaps == [] or abs(Fraction(told[cell.id].gap or 0)) == round(min(map(abs, gaps)), 2)


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(problems())
def test_disputed_cells_are_those_that_some_of_the_best_solutions_explain(problem: SearchProblem) -> None:
    _, best = best_of(problem)
    hits = [one.hits(problem) for one in best]
    some = [cell.id for cell, told in zip(problem.cells, zip(*hits, strict=True), strict=True) if len(set(told)) == 2]
    assert list(solve(problem).disputed) == some


def gap_of(one: Candidate, problem: SearchProblem, place: int) -> list[Fraction]:
    """Return by how much a candidate misses a cell, in units of its last digit; nothing where it gives no value."""
    cell, value = problem.cells[place], one.values[place]
    rounding = one.flops_rounding if cell.kind == "flops" else one.parameter_rounding
    if value is None or rounding is None:
        return []
    least, most = cell.ranges[rounding]
    return [(value - min(max(value, least), most)) / cell.step]


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(problems())
def test_the_first_solution_is_the_first_of_all_in_the_stated_order(problem: SearchProblem) -> None:
    answer = solve(problem)
    first = min(expanded(problem, answer), key=lambda one: place_of(problem, one))
    assert bare(answer.first) == bare(first)
    assert answer.first.explained == find_explained(problem, first)
    assert len(answer.first.explained) == answer.score
    assert answer.first.apart == place_of(problem, first)[0]
    assert answer.first.nearest is None or distance(problem, first, answer.first.nearest) == answer.first.apart


def bare(one: Solution) -> tuple[object, ...]:
    counted = (one.parameter_convention, one.parameter_rounding, one.flops_rounding)
    return (dict(one.readings), *counted, one.weights)


def distance(problem: SearchProblem, one: Solution, name: str) -> int:
    """Count the axes on which a solution's readings are not the named ones."""
    named = problem.named.get(name, {})
    pairs = [
        (
            np.unravel_index(index, problem.spaces[group].shape),
            np.unravel_index(named[group], problem.spaces[group].shape),
        )
        for group, index in one.readings.items()
        if group in named
    ]
    return sum(int(a != b) for ours, theirs in pairs for a, b in zip(ours, theirs, strict=True))


def place_of(problem: SearchProblem, one: Solution) -> tuple[int, int, list[int], int, int, list[int], list[int]]:
    """Return the place in the order that RULE states."""
    rules = [
        problem.roundings.index(one.parameter_rounding) if one.parameter_rounding else 0,
        problem.roundings.index(one.flops_rounding) if one.flops_rounding else 0,
    ]
    return (
        min((distance(problem, one, name) for name in problem.named), default=0),
        distance(problem, one, problem.text) if problem.text else 0,
        rules,
        sum(one.weights),
        problem.conventions.index(one.parameter_convention) if one.parameter_convention else 0,
        [-weight for weight in one.weights],
        list(one.readings.values()),
    )


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(problems(), st.integers(0, 12))
def test_an_answer_cut_short_says_so_and_stays_true(problem: SearchProblem, budget: int) -> None:
    score, _ = best_of(problem)
    answer = solve(problem, budget=budget)
    assert answer.score <= score <= answer.bound
    assert answer.exhaustive or answer.bound >= answer.score
    for one in expanded(problem, answer):
        assert len(find_explained(problem, one)) == answer.score
    found, at_most = best_score(problem, budget=budget)
    assert found <= score <= at_most


def test_boxes_that_are_to_be_written_out_count_against_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    row = CountedRow("r", "", {}, np.array([[3, 5, 7]]))
    cell = Cell("r/flops", 0, "flops", {Rounding.HALF_UP: (20, 60)}, Fraction(1))
    problem = SearchProblem((row,), (cell,), {}, ("linear", "conv", "product"), {})
    whole = solve(problem)
    monkeypatch.setattr(branch_and_bound, "_KEPT", BUDGET)
    cut = solve(problem)
    assert (whole.exhaustive, cut.exhaustive) == (True, False)
    assert whole.score == cut.score == cut.bound == 1
    assert 0 < cut.count < whole.count


def test_nothing_to_explain_is_an_error() -> None:
    with pytest.raises(SolverError, match="nothing to solve"):
        solve(SearchProblem((), (), {}, (), {}))


@pytest.mark.slow
def test_a_search_on_numbers_that_fit_nothing_is_cut_and_says_how_much_is_possible() -> None:
    problem = shift_digits(planted(161, (1, 1, 1, 0, 1, 0, 0, 2, 1)), 0)
    answer = solve(problem, budget=300_000)
    assert not answer.exhaustive
    assert 0 < answer.score < answer.bound < 30
    assert len(answer.first.explained) == answer.score
    assert best_score(problem, budget=3_000_000)[1] <= answer.bound


@pytest.mark.parametrize(
    ("fitting", "first"),
    [
        ((0, 1, 2, 3, 4, 5), (1, "as_written", 0)),
        ((0, 2, 3, 5), (5, "released", 0)),
        ((0, 2, 3, 4), (0, "as_written", 1)),
    ],
)
def test_named_readings_come_first_then_those_near_the_text(
    fitting: tuple[int, ...], first: tuple[int, str, int]
) -> None:
    """Of (bias, norm), released is (no, batch) and the text (yes, layer)."""
    sizes = np.array([5 if reading in fitting else 9 for reading in range(6)])
    row = CountedRow("p/1/a", "imlp", {"all": sizes}, np.array([[1]]))
    cell = Cell("p/1/a/params", 0, "parameters", {Rounding.HALF_UP: (5, 5)}, Fraction(1))
    one = solve(SearchProblem((row,), (cell,), SPACES, ("linear",), NAMED, "as_written")).first
    assert (one.readings["imlp"], one.nearest, one.apart) == first


@given(problems(), st.integers(0, 3))
def test_every_cell_is_moved_by_2_to_9_units_and_stays_as_wide(problem: SearchProblem, number: int) -> None:
    for old, new in zip(problem.cells, shift_digits(problem, number).cells, strict=True):
        moves = {new.ranges[rule][end] - old.ranges[rule][end] for rule in old.ranges for end in (0, 1)}
        assert len(moves) == 1
        assert 2 <= abs(moves.pop() / old.step) <= 9


def test_shifts_are_drawn_from_all_that_are_possible_the_same_each_time() -> None:
    problem = planted(161, (1,) * 9)
    old = problem.cells[0]
    drawn = [shift_digits(problem, number).cells[0] for number in range(200)]
    moves = [(new.ranges[rule][0] - old.ranges[rule][0]) / old.step for new in drawn for rule in [Rounding.HALF_UP]]
    assert set(moves) == {*range(-9, -1), *range(2, 10)}
    assert drawn == [shift_digits(problem, number).cells[0] for number in range(200)]


@settings(max_examples=30, deadline=None)
@given(problems())
def test_the_scores_are_those_of_the_same_search(problem: SearchProblem) -> None:
    for number, (found, at_most) in enumerate(null_scores(problem, tables=2)):
        assert found == at_most == solve(shift_digits(problem, number)).score


def test_a_planted_table_explains_far_more_than_shifted_ones() -> None:
    scores = list(null_scores(planted(161, (1, 1, 1, 0, 1, 0, 0, 2, 1)), tables=3, budget=300_000))
    assert all(0 < found <= at_most < 22 for found, at_most in scores)
    assert len(scores) == 3
