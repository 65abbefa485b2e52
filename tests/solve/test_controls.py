"""The same search with shifted digits, with families apart, and with cells left out."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imlp_audit.numbers.printed import Rounding
from imlp_audit.solve.answer import find_explained
from imlp_audit.solve.controls import (
    TooManyError,
    by_family,
    differing,
    folds,
    held_out,
    mean_hits,
    null_scores,
    share_within,
    shift_digits,
)
from imlp_audit.solve.problem import Cell, CountedRow, SearchProblem
from imlp_audit.solve.search import Rules, best_score, solve
from tests.solve.table1 import READINGS, planted
from tests.solve.tiny import expanded, problems


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


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(problems())
def test_the_mean_over_ties_is_that_of_all_their_solutions(problem: SearchProblem) -> None:
    """Weights of classes without work in what was searched, and readings of groups without a cell, are all as good."""
    seen = problem.cells[: (len(problem.cells) + 1) // 2]
    rest = problem.cells[len(seen) :]
    answer = solve(replace(problem, cells=seen))
    hits = []
    seen_rows = [problem.rows[cell.row].work for cell in seen if cell.kind == "flops"]
    free = [
        (None,) if any(work[:, place].any() for work in seen_rows) else problem.weights_of(name)
        for place, name in enumerate(problem.classes)
    ]
    for one in expanded(problem, answer):
        groups = [group for group in problem.spaces if group not in one.readings]
        sizes = [range(6 if group == "imlp" else 2) for group in groups]
        for weights, readings in product(product(*free), product(*sizes)):
            merged = tuple(w if f is None else f for w, f in zip(one.weights, weights, strict=True))
            whole = replace(one, weights=merged, readings={**one.readings, **dict(zip(groups, readings, strict=True))})
            hits.append(len(find_explained(problem, whole, rest)))
    assert mean_hits(problem, answer, rest) == Fraction(sum(hits), len(hits))


def test_a_weight_that_nothing_seen_depends_on_is_averaged_over() -> None:
    """The first row has w0 = 2; the second, 2 + w1, prints as 4 or 5: for two weights of seven."""
    rows = tuple(CountedRow(f"p/1/{i}", "", {}, np.array([work])) for i, work in enumerate(([1, 0], [1, 1])))
    seen, rest = (
        Cell(f"p/1/{i}/flops", i, "flops", {Rounding.HALF_UP: ends}, Fraction(1))
        for i, ends in enumerate([(2, 2), (4, 5)])
    )
    problem = SearchProblem(rows, (seen, rest), {}, ("linear", "conv"), {})
    answer = solve(problem.where(lambda cell: cell == seen))
    assert mean_hits(problem, answer, [rest]) == Fraction(2, 7)


@pytest.mark.slow
def test_a_planted_counter_explains_what_was_held_out() -> None:
    problem = planted(161, (1, 1, 1, 0, 1, 0, 0, 2, 1))
    problem = replace(
        problem, cells=tuple(replace(c, ranges={Rounding.HALF_UP: c.ranges[Rounding.HALF_UP]}) for c in problem.cells)
    )
    found = {one.name: one for one in held_out(problem)}
    assert [name.split()[0] for name in found] == ["host"] * 11 + ["family"] * 3 + ["half"] * 4
    assert sum(one.of for name, one in found.items() if name.startswith("host")) == 44
    assert found["host deit_s"].chosen == 4
    for one in found.values():
        assert one.mean is not None
        assert 0 < float(one.mean) <= one.of


def test_folds_leave_something_to_search() -> None:
    problem = planted(161, (1,) * 9)
    one = problem.where(lambda cell: cell.id.startswith("imlp/1/deit_ti/"))
    assert {name: len(cells) for name, cells in folds(one).items()} == {f"half {n}": 1 for n in range(1, 5)}
    assert folds(problem) == folds(problem)


TERMS = st.lists(st.lists(st.integers(-9, 9), min_size=1, max_size=4), max_size=5)


@given(TERMS, st.integers(-30, 30), st.integers(0, 20))
def test_the_share_is_that_of_all_sums(terms: list[list[int]], least: int, width: int) -> None:
    sums = [sum(values) for values in product(*terms)]
    inside = sum(least <= one <= least + width for one in sums)
    found = share_within([np.array(term) for term in terms], least, least + width)
    assert found == Fraction(inside, len(sums))


def test_too_many_sums_are_refused() -> None:
    terms = [np.arange(7) * 8**place for place in range(16)]
    with pytest.raises(TooManyError):
        share_within(terms, 0, 10)
