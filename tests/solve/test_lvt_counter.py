"""What says that LVT's rows (imlp, Table 1) were counted by thop's rules: that they fit, and no other named counter."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from imlp_audit.numbers.printed import Rounding
from imlp_audit.solve.compose import compose
from imlp_audit.solve.problem import Cell, SearchProblem
from imlp_audit.solve.search import shift_digits
from imlp_audit.spec.load import load

COPIES = 100


@pytest.fixture(scope="module")
def lvt() -> SearchProblem:
    (paper,) = load(["imlp"]).papers
    return compose([row for row in paper.rows if "/lvt_" in row.id])[0].only("flops")


def scores(problem: SearchProblem, cells: Sequence[Cell]) -> dict[tuple[str, str], int]:
    """How many cells each named counter explains under each named reading."""
    return {
        (counter, name): sum(_hits(problem, cell, counter, at["imlp"]) for cell in cells)
        for counter in problem.rows[0].totals
        if all(counter in row.totals for row in problem.rows)  # ptflops has none for blocks
        for name, at in problem.named.items()
    }


def _hits(problem: SearchProblem, cell: Cell, counter: str, reading: int) -> bool:
    totals = problem.rows[cell.row].totals[counter]
    low, high = cell.ranges[Rounding.HALF_UP]
    return low <= int(totals[reading if len(totals) > 1 else 0]) <= high


def test_thop_gives_all_eight_under_the_released_reading_and_no_other_more_than_half(lvt: SearchProblem) -> None:
    found = scores(lvt, lvt.cells)
    for name in ("thop_fitted", "thop"):
        assert len(lvt.cells) == found.pop((name, "released")) == 8
        assert found.pop((name, "as_written")) == 4  # the rows without IMLP
    assert max(found.values()) == found["mmcv", "released"] == 4
    assert found["no_products", "released"] == 3


def test_by_chance_no_named_counter_gives_more_than_the_spec_says(lvt: SearchProblem) -> None:
    """Over copies with every number shifted by 2 to 9 last digits, the best of all counters under both readings."""
    (paper,) = load(["imlp"]).papers
    fit = paper.about.value.fitted["thop_fitted"]
    best = [max(scores(lvt, shift_digits(lvt, number).cells).values()) for number in range(COPIES)]
    assert (fit.explained, fit.of, fit.by_chance) == (8, 8, max(best))
    assert sum(best) == 108  # of 100 copies: little more than one cell on average
