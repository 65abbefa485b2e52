"""Cells that the search did not see, and sums that are counted without listing them."""

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
from imlp_audit.solve.heldout import TooManyError, folds, held_out, mean_hits, share_within
from imlp_audit.solve.problem import Cell, CountedRow, SearchProblem
from imlp_audit.solve.search import solve
from tests.solve.table1 import planted
from tests.solve.tiny import expanded, problems


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(problems())
def test_the_mean_over_ties_is_that_of_all_their_solutions(problem: SearchProblem) -> None:
    """Weights of classes without work in what was searched, and readings of groups without a cell, are all as good."""
    seen = problem.cells[: (len(problem.cells) + 1) // 2]
    rest = problem.cells[len(seen) :]
    answer = solve(replace(problem, cells=seen))
    hits = []
    free = [weight.values if not weight.works else (None,) for weight in answer.weights]
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
