"""Families that take a reading of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from imlp_audit.numbers.printed import Rounding
from imlp_audit.solve.controls import by_family, differing
from imlp_audit.solve.problem import SearchProblem
from imlp_audit.solve.search import Rules, best_score, solve
from tests.solve.table1 import READINGS, planted
from tests.solve.tiny import problems

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
