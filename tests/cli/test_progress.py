"""What progress says: the seconds that are left at the pace so far, and names that fit into the line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.cli.progress import Pace, fit_name


def test_seconds_are_counted_and_loading_torch_says_nothing_about_the_rest() -> None:
    pace = Pace(6)
    assert (pace.spent, pace.left) == (0, None)
    for now, spent, left in ((10, 0, None), (15, 5, None), (16, 6, 4), (19, 9, 6), (19, 9, 8 / 3)):
        pace.begin(now)
        assert (pace.spent, pace.left) == (spent, left if left is None else pytest.approx(left))


@given(seconds=st.lists(st.floats(0, 1e4), min_size=3, max_size=30), more=st.integers(0, 30))
def test_equal_steps_take_what_they_took(seconds: list[float], more: int) -> None:
    pace = Pace(len(seconds) + more)
    for at, _ in enumerate(seconds):
        pace.begin(2.0 * at)
    assert pace.left == pytest.approx(2.0 * (more + 1))


@pytest.mark.parametrize(
    ("room", "written"),
    [(40, "imlp/equations/eq10_index_set"), (29, "imlp/equations/eq10_index_set"), (28, "eq10_index_set"), (13, "")],
)
def test_a_name_that_is_wider_than_the_line_is_not_cut(room: int, written: str) -> None:
    assert fit_name("imlp/equations/eq10_index_set", room) == written
