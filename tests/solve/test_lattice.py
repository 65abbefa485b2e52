"""Counting sums against listing them."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.solve.heldout import TooManyError, share_within

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
