"""The same search on tables with shifted digits, and with families of models apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imlp_audit.numbers.printed import Rounding
from imlp_audit.solve.controls import by_family, differing, null_scores, shift_digits
from imlp_audit.solve.problem import SearchProblem
from imlp_audit.solve.search import Rules, best_score, solve
from tests.solve.table1 import READINGS, planted
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


WEIGHTS = (1, 1, 1, 0, 1, 0, 0, 2, 1)
READING, OTHER, THIRD = 161, 1000, 2000
HALF_UP = (Rounding.HALF_UP,)


def table(readings: dict[str, int]) -> SearchProblem:
    problem = planted(READING, WEIGHTS, readings=readings)
    cells = tuple(replace(c, ranges={rule: c.ranges[rule] for rule in HALF_UP}) for c in problem.cells)
    return replace(problem, cells=cells)


@pytest.mark.parametrize(
    ("readings", "least"),
    [({}, []), ({"swin": OTHER}, [("swin",)]), ({"swin": OTHER, "poolformer": THIRD}, None)],
)
def test_the_families_that_were_built_by_another_reading_are_found(
    readings: dict[str, int], least: list[tuple[str, ...]] | None
) -> None:
    problem = table(readings)
    score = solve(problem).score
    assert (score == 44) == (not readings)
    found = by_family(problem, score)
    best = [one for one in found if one.score.found == 44]
    if least is not None:
        assert [one.families for one in best] == least
    assert len({len(one.families) for one in found}) <= 1
    assert all(one.score.found == one.score.at_most > score for one in found)


@settings(max_examples=25, deadline=None)
@given(problems())
def test_a_family_apart_never_lowers_the_score(problem: SearchProblem) -> None:
    """More may be chosen, so no less is explained."""
    families = {row.id: f"family{place % 2}" for place, row in enumerate(problem.rows)}
    problem = replace(problem, families=families)
    apart = differing(problem, ("family1",))
    groups = {row.group for row in apart.rows if row.group}
    assert all(("@" in row.group) == (families[row.id] == "family1") for row in apart.rows if row.group)
    assert set(apart.spaces) == groups
    assert best_score(apart, Rules.TOGETHER).found >= best_score(problem, Rules.TOGETHER).found


def test_named_readings_go_with_their_groups() -> None:
    apart = differing(table({}), ("deit",))
    assert apart.named == {"released": {"imlp": READING, "imlp@deit": READING}}
    assert [int(np.prod(space.shape)) for space in apart.spaces.values()] == [READINGS] * 2
