"""How many images decide: by the intervals in use, against closed formulas."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.evaluate.deciding import MOST_IMAGES, Sample, find_others, find_stake
from imlp_audit.evaluate.statistics import DIGITS, Z, wilson
from imlp_audit.numbers.forms import parse_printed
from imlp_audit.numbers.interval import Interval
from imlp_audit.numbers.printed import Rounding
from tests.evaluate.papers import cell

STEP = Fraction(1, 10**DIGITS)


def by_formula(share: Fraction, ruled_out: Fraction) -> int:
    """Wilson's interval around p excludes q if n (p - q)^2 > z^2 q (1 - q); both in percent."""
    p, q = share / 100, ruled_out / 100
    return floor(Z**2 * q * (1 - q) / (p - q) ** 2) + 1


def sample(correct: int, images: int) -> Sample:
    """A share of right images, in percent."""
    return Sample(
        images,
        Fraction(100 * correct, images),
        wilson(correct, images),
        lambda value, n: wilson(value / 100 * n, n),
        Interval(Fraction(0), Fraction(100)),
        None,
    )


@pytest.mark.slow
@given(st.integers(200, 800), st.integers(5, 150))
def test_the_number_of_images_is_that_of_wilsons_formula(tenths: int, difference: int) -> None:
    """Neither may the printed share's interval hold the others, nor that of the others the printed one."""
    printed = parse_printed(f"{tenths / 10:.1f}", "%")
    interval, points, value = printed.interval(Rounding.HALF_UP), Fraction(difference, 10), printed.value
    found = sample(1, 1).images_to_decide(value, interval, points, MOST_IMAGES)
    assert found is not None
    ends = (
        (value, interval.high - points, 1),
        (value, interval.low + points, -1),
        (value - points, interval.low, -1),
        (value + points, interval.high, 1),
    )
    expected = max(by_formula(share, end) for share, end, _ in ends)
    beyond = max(by_formula(share, end + way * STEP) for share, end, way in ends)
    assert expected <= found <= beyond  # the ends of intervals are rounded outward by less than a step


def test_published_differences() -> None:
    """DeiT-Ti's 72.2 against 72.6 takes 63 426 images, more than the 50 000 there are; against 63.2 it takes 112."""
    printed = parse_printed("72.2", "%")

    def needed(points: str, most: int) -> int | None:
        interval = printed.interval(Rounding.HALF_UP)
        return sample(1, 1).images_to_decide(printed.value, interval, Fraction(points), most)

    assert needed("0.4", 50_000) is None
    assert needed("0.4", 10**6) == pytest.approx(63_426, rel=1e-3)
    assert by_formula(Fraction("72.2"), Fraction("71.85")) == 63_426
    assert needed("9", 50_000) == by_formula(Fraction("72.2"), Fraction("63.25")) == 112


@given(st.integers(0, 60), st.integers(1, 60), st.integers(0, 1000), st.integers(1, 1000))
def test_a_sample_that_decides_could_have_failed(correct: int, images: int, tenths: int, difference: int) -> None:
    """It holds no number so far from the printed one, and other outcomes of it lie below and above what is printed."""
    one = sample(min(correct, images), images)
    printed, points = parse_printed(f"{tenths / 10:.1f}", "%").interval(Rounding.HALF_UP), Fraction(difference, 10)
    if not one.decides(printed, points) or not one.interval.meets(printed):
        return
    middle = Fraction(tenths, 10)
    assert not any(other in one.interval for other in (middle - points, middle + points) if 0 <= other <= 100)
    if middle > 0:
        assert Fraction(0) not in one.interval or Fraction(0) in printed
        assert wilson(0, images) < printed
    if middle < 100:
        assert Fraction(100) not in one.interval or Fraction(100) in printed
        assert printed < wilson(images, images)


def interval(low: str, high: str, low_closed: bool = True, high_closed: bool = False) -> Interval:
    return Interval(Fraction(low), Fraction(high), low_closed, high_closed)


@pytest.mark.parametrize(
    ("text", "points", "others"),
    [
        ("72.2", "0.4", [interval("71.75", "71.85"), interval("72.55", "72.65")]),
        # what is not possible gives way to the last number that is
        ("72.2", "72.1", [interval("0.05", "0.15"), interval("100", "100", high_closed=True)]),
        ("0.3", "0.4", [interval("0", "0", high_closed=True), interval("0.65", "0.75")]),
        ("80.0", "20", [interval("59.95", "60.05"), interval("99.95", "100", high_closed=True)]),
        # unless it prints alike
        ("100.0", "20", [interval("79.95", "80.05")]),
        ("0.0", "100.5", [interval("100", "100", high_closed=True)]),
    ],
)
def test_the_other_numbers_that_a_sample_has_to_exclude(text: str, points: str, others: list[Interval]) -> None:
    printed = parse_printed(text, "%").interval(Rounding.HALF_UP)
    assert find_others(printed, Fraction(points), Interval(Fraction(0), Fraction(100))) == others


@pytest.mark.parametrize(
    ("name", "points", "rows"),
    [
        ("p/1/base/top1", "0.1", ("base", "block")),
        ("p/1/block/top1", "0.1", ("base", "block")),
        ("p/1/same/top1", "0.1", ("base", "block")),  # the only pair of the column
        ("p/2/far/top1", "0.1", ("base", "block")),  # of another table, on the same images
        ("p/3/other/top1", "20", ("base", "much")),
        ("p/4/trained/top1", "4", ("trained", "more")),  # the smallest, not the row's own 72.1
        ("p/4/chance/top1", "4", ("trained", "more")),
        ("p/4/trained/only", "72.1", ("chance", "trained")),
        ("p/5/c/kites", "1", ("a", "b")),  # by what claims compare
        ("p/5/a/boats", "2.5", ("b", "c")),
    ],
)
def test_the_difference_that_a_sample_has_to_exclude(
    tmp_path: Path, name: str, points: str, rows: tuple[str, str]
) -> None:
    stake = find_stake(cell(tmp_path, name))
    assert stake is not None
    assert (stake.points, stake.base.row.row.id, stake.variant.row.row.id) == (Fraction(points), *rows)


@pytest.mark.parametrize("name", ["p/1/base/top5", "p/1/base/real"])
def test_a_column_without_a_difference_gives_none(tmp_path: Path, name: str) -> None:
    assert find_stake(cell(tmp_path, name)) is None
