"""How many images decide: by the intervals in use, against closed formulas."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.evaluate.deciding import excludes, find_stake, images_to_decide
from imlp_audit.evaluate.statistics import DIGITS, Z, wilson
from imlp_audit.numbers.interval import Interval
from imlp_audit.numbers.printed import Rounding, parse_printed
from tests.evaluate.papers import cell

STEP = Fraction(1, 10**DIGITS)


def by_formula(share: Fraction, ruled_out: Fraction) -> int:
    """Wilson's interval around p excludes q if n (p - q)^2 > z^2 q (1 - q); both in percent."""
    p, q = share / 100, ruled_out / 100
    return floor(Z**2 * q * (1 - q) / (p - q) ** 2) + 1


@given(st.integers(200, 800), st.integers(5, 150))
def test_the_number_of_images_is_that_of_wilsons_formula(tenths: int, difference: int) -> None:
    printed = parse_printed(f"{tenths / 10:.1f}", "%")
    interval, points = printed.interval(Rounding.HALF_UP), Fraction(difference, 10)
    found = images_to_decide(lambda n: wilson(printed.value / 100 * n, n), interval, points)
    nearest = (interval.high - points, interval.low + points)  # the ends of what is to be excluded
    expected = max(by_formula(printed.value, end) for end in nearest)
    beyond = max(by_formula(printed.value, end + way * STEP) for end, way in zip(nearest, (1, -1), strict=True))
    assert found is not None
    assert expected <= found <= beyond  # the ends of intervals are rounded outward by less than a step


def test_published_differences() -> None:
    """DeiT-Ti's 72.2 against 72.6 takes 63 426 images, more than the 50 000 there are; against 63.2 it takes 112."""
    printed = parse_printed("72.2", "%")
    interval = printed.interval(Rounding.HALF_UP)

    def needed(points: str, most: int) -> int | None:
        return images_to_decide(lambda n: wilson(printed.value / 100 * n, n), interval, Fraction(points), most)

    assert needed("0.4", 50_000) is None
    assert needed("0.4", 10**6) == pytest.approx(63_426, rel=1e-3)
    assert by_formula(Fraction("72.2"), Fraction("71.85")) == 63_426
    assert needed("9", 50_000) == by_formula(Fraction("72.2"), Fraction("63.25")) == 112


@given(st.integers(0, 60), st.integers(1, 60), st.integers(1, 200))
def test_what_an_interval_excludes_lies_outside_it(correct: int, images: int, tenths: int) -> None:
    sampled = wilson(min(correct, images), images)
    printed, points = Interval(Fraction(50), Fraction(51), high_closed=False), Fraction(tenths, 10)
    outside = all(
        not sampled.meets(Interval(one.low, one.high, high_closed=False))
        for one in (
            Interval(printed.low + points, printed.high + points),
            Interval(printed.low - points, printed.high - points),
        )
    )
    assert excludes(sampled, printed, points) is outside


@pytest.mark.parametrize(
    ("name", "points", "rows"),
    [
        ("p/1/base/top1", "0.1", ("base", "block")),
        ("p/1/block/top1", "0.1", ("base", "block")),
        ("p/1/same/top1", "0.1", ("base", "block")),  # the only pair of the column
        ("p/3/other/top1", "20", ("base", "much")),
    ],
)
def test_the_difference_that_a_sample_has_to_exclude(
    tmp_path: Path, name: str, points: str, rows: tuple[str, str]
) -> None:
    stake = find_stake(cell(tmp_path, name))
    assert stake is not None
    assert (stake.points, stake.base.row.row.id, stake.variant.row.row.id) == (Fraction(points), *rows)


@pytest.mark.parametrize("name", ["p/2/far/top1", "p/1/base/top5", "p/1/base/real"])
def test_a_column_without_a_difference_gives_none(tmp_path: Path, name: str) -> None:
    assert find_stake(cell(tmp_path, name)) is None
