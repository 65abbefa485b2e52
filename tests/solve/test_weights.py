"""Classes whose work is proportional are weighed as one."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.solve.weights import bundles_of

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
