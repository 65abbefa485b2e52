"""Tables with shifted digits."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from imlp_audit.numbers.printed import Rounding
from imlp_audit.solve.controls import null_scores, shift_digits
from imlp_audit.solve.problem import SearchProblem
from imlp_audit.solve.search import Rules, solve
from tests.solve.table1 import planted
from tests.solve.tiny import problems


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
@given(problems(), st.sampled_from(Rules))
def test_the_scores_are_those_of_the_same_search(problem: SearchProblem, rules: Rules) -> None:
    for number, score in enumerate(null_scores(problem, rules, tables=2)):
        assert score.found == score.at_most == solve(shift_digits(problem, number), rules).score


def test_a_planted_table_explains_far_more_than_shifted_ones() -> None:
    scores = list(null_scores(planted(161, (1, 1, 1, 0, 1, 0, 0, 2, 1)), tables=3, budget=300_000))
    assert all(0 < score.found <= score.at_most < 22 for score in scores)
    assert len(scores) == 3
