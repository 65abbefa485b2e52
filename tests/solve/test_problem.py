"""Problems: what is asked of them, and what is made of them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from imlp_audit.errors import SolverError
from imlp_audit.numbers.printed import Rounding
from imlp_audit.solve.problem import Cell, CountedRow, SearchProblem, Space
from imlp_audit.solve.search import solve

ROW = CountedRow(
    "p/1/a", "imlp", {"all": np.array([10, 20])}, np.array([[5, 2, 1], [5, 2, 4]]), {"macs": np.array([5, 6])}
)
CELLS = (
    Cell("p/1/a/params", 0, "parameters", {Rounding.HALF_UP: (19, 21)}, Fraction(1)),
    Cell("p/1/a/flops", 0, "flops", {Rounding.HALF_UP: (11, 11)}, Fraction(1)),
)
SPACES = {"imlp": Space((("bias", ("yes", "no")),))}
PROBLEM = SearchProblem((ROW,), CELLS, SPACES, ("linear", "layer_norm", "batch_norm"), {})


def test_a_problem_of_one_kind_of_number_only() -> None:
    assert [cell.id for cell in PROBLEM.only("flops").cells] == ["p/1/a/flops"]
    assert [cell.id for cell in PROBLEM.only("parameters").cells] == ["p/1/a/params"]
    answer = solve(PROBLEM.only("parameters"))
    assert (answer.score, answer.count, answer.axes[0].values) == (1, 1, ("no",))
    assert not any(weight.works for weight in answer.weights)


def test_tied_norms_have_one_weight() -> None:
    tied = PROBLEM.tie_classes()
    assert tied.classes == ("linear", "norm")
    assert tied.rows[0].work.tolist() == [[5, 3], [5, 6]]
    answer = solve(tied)
    assert (answer.score, answer.solutions[0].weights) == (2, (1, 1))


def test_a_named_convention_leaves_no_weight_open() -> None:
    answer = solve(PROBLEM.under("macs"))
    assert (answer.score, answer.count) == (1, 1)
    (missed,) = answer.contradicted
    assert (missed.cell, missed.value, missed.gap) == ("p/1/a/flops", 6, Fraction(-5))
    with pytest.raises(SolverError, match="thop has no total of p/1/a"):
        PROBLEM.under("thop")


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (replace(PROBLEM, cells=()), "nothing to solve"),
        (replace(PROBLEM, spaces={}), "takes a reading of 'imlp', which has no space"),
        (replace(PROBLEM, classes=("linear",)), "has 3 classes of work, not 1"),
        (replace(PROBLEM, rows=(replace(ROW, work=ROW.work[[0, 0, 1]]),)), "counts for 3 readings of 2"),
        (replace(PROBLEM, cells=(*CELLS, replace(CELLS[0], ranges={}))), "know different rounding rules"),
        (replace(PROBLEM, rows=(replace(ROW, work=ROW.work * 10**15),)), "too large to add up exactly"),
    ],
)
def test_what_does_not_fit_together_is_refused(problem: SearchProblem, message: str) -> None:
    with pytest.raises(SolverError, match=message):
        solve(problem)
