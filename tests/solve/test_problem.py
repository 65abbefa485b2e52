"""Problems: what is asked of them, and the arrays that are made of them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.errors import SolverError
from imlp_audit.numbers.printed import Rounding
from imlp_audit.solve.layout import bundles_of
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


def test_a_named_convention_leaves_no_weight_open() -> None:
    answer = solve(PROBLEM.under("macs"))
    assert (answer.score, answer.count) == (1, 1)
    (missed,) = answer.contradicted
    assert (missed.id, missed.value, missed.gap) == ("p/1/a/flops", 6, "-5")
    with pytest.raises(SolverError, match="thop has no total of p/1/a"):
        PROBLEM.under("thop")


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (replace(PROBLEM, cells=()), "nothing to solve"),
        (replace(PROBLEM, rows=(replace(ROW, work=ROW.work * 10**15),)), "too large to add up exactly"),
    ],
)
def test_what_cannot_be_solved_is_refused(problem: SearchProblem, message: str) -> None:
    with pytest.raises(SolverError, match=message):
        solve(problem)


WEIGHTS = tuple(range(7))


def test_pooling_and_group_norms_of_poolformer_are_one_bundle() -> None:
    """A PoolFormer block normalises twice as many elements as it pools (two norms a block, one pooling)."""
    elements = np.array([[3], [5], [7]])
    work = np.hstack([2 * elements, elements**2, 2 * elements, elements, 0 * elements])
    norms, squares = bundles_of(work, [WEIGHTS] * 5)
    assert (norms.classes, norms.factors) == ((0, 2, 3), (2, 2, 1))
    assert squares.classes == (1,)
    assert norms.unit.tolist() == [3, 5, 7]
    assert norms.values.tolist() == list(range(31))
    five = [tuple(row) for row in norms.between(5, 5).tolist()]
    assert five == [w for w in product(WEIGHTS, repeat=3) if 2 * w[0] + 2 * w[1] + w[2] == 5]


def test_classes_that_cannot_be_weighed_are_in_no_bundle() -> None:
    work = np.array([[0, 4, 3, 2], [0, -1, 5, 6]])
    assert [bundle.classes for bundle in bundles_of(work, [WEIGHTS, WEIGHTS, (0,), WEIGHTS])] == [(3,)]


@given(
    st.lists(st.tuples(*[st.integers(0, 6)] * 4), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3)), min_size=1, max_size=8),
)
def test_weighted_units_are_totals(rows: list[tuple[int, ...]], columns: list[tuple[int, int]]) -> None:
    """Every combination of weights is in exactly one option of each bundle, and totals are kept."""
    work = np.array([[row[place] * times for place, times in columns] for row in rows])
    weights = [(0, 1, 5)] * len(columns)
    bundles = bundles_of(work, weights)
    bundled = [place for bundle in bundles for place in bundle.classes]
    assert sorted(bundled) == [place for place in range(len(columns)) if work[:, place].any()]
    for bundle in bundles:
        assert len({tuple(row) for row in bundle.options.tolist()}) == len(bundle.options) == 3 ** len(bundle.classes)
        assert (np.diff(bundle.values) > 0).all()
        for index, value in enumerate(bundle.values):
            for option in bundle.between(index, index):
                assert (work[:, bundle.classes] @ option == bundle.unit * value).all()


def test_a_bundle_stays_small() -> None:
    """Of a single row all classes are proportional; 7 to the 12th combinations would not fit."""
    bundles = bundles_of(np.arange(1, 13)[np.newaxis], [WEIGHTS] * 12)
    assert sum(len(bundle.classes) for bundle in bundles) == 12
    assert max(len(bundle.options) for bundle in bundles) <= 7**4
