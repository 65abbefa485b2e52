"""What progress says: the seconds that are left at the pace so far, and names that fit into the line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.cli.progress import ImagePace, Pace, fit_name


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


def test_batches_that_are_done_at_the_same_moment_do_not_make_the_rest_look_fast() -> None:
    pace = ImagePace()
    said = [
        pace.speed(done, now) for done, now in ((0, 1.0), (0, 10.0), (32, 12.0), (64, 12.0), (64, 12.0), (96, 13.0))
    ]
    assert said == [None, None, 16, 32, None, 32]  # what went before the last call that brought none does not count


def test_images_that_were_done_before_do_not_count_for_the_speed() -> None:
    pace = ImagePace()
    assert [pace.speed(done, now) for done, now in ((100, 0.0), (110, 2.0), (0, 3.0), (20, 7.0))] == [None, 5, None, 5]
