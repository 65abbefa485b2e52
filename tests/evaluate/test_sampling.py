"""What a sample of images decides: intervals and tests, and which difference to exclude."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.evaluate.verdict import DIGITS, Sample, Z, find_others, find_stake, wilson
from imlp_audit.numbers.interval import Interval
from imlp_audit.numbers.parsing import parse_printed
from imlp_audit.numbers.printed import Rounding
from tests.evaluate.papers import cell

STEP = Fraction(1, 10**DIGITS)


counts = st.integers(1, 60_000).flatmap(lambda images: st.tuples(st.integers(0, images), st.just(images)))
"""Right images, and all of them."""


def test_z_is_the_quantile_rounded_up_in_its_last_digit() -> None:
    with mpmath.workdps(40):
        z = mpmath.mpf(Z.numerator) / Z.denominator
        assert mpmath.erf(z / mpmath.sqrt(2)) >= mpmath.mpf("0.95") > mpmath.erf((z - mpmath.mpf("1e-20")) / 2**0.5)


@pytest.mark.parametrize(
    ("correct", "images", "low", "high"),
    [  # R. G. Newcombe, Statistics in Medicine 17 (1998), 857-872, Table I, method 3
        (81, 263, "0.2553", "0.3662"),
        (15, 148, "0.0624", "0.1605"),
        (0, 20, "0.0000", "0.1611"),
        (1, 29, "0.0061", "0.1718"),
    ],
)
def test_wilson_is_as_published(correct: int, images: int, low: str, high: str) -> None:
    found = wilson(correct, images)
    assert (f"{float(found.low) / 100:.4f}", f"{float(found.high) / 100:.4f}") == (low, high)


@given(counts)
def test_wilson_is_the_closed_form_rounded_outwards(drawn: tuple[int, int]) -> None:
    correct, images = drawn
    with mpmath.workdps(60):
        z, p = mpmath.mpf(Z.numerator) / Z.denominator, mpmath.mpf(correct) / images
        centre = p + z**2 / (2 * images)
        half = z * mpmath.sqrt(p * (1 - p) / images + z**2 / (4 * images**2))
        low, high = ((centre + sign * half) / (1 + z**2 / images) * 100 * 10**DIGITS for sign in (-1, 1))
        low, high = (int(mpmath.nint(x)) if abs(x - mpmath.nint(x)) < 1e-30 else x for x in (low, high))  # 0 and 100 %
        expected = Interval(int(mpmath.floor(low)) * STEP, int(mpmath.ceil(high)) * STEP)
    assert wilson(correct, images) == expected


@given(counts)
def test_wilson_holds_the_share_and_mirrors_with_it(drawn: tuple[int, int]) -> None:
    correct, images = drawn
    found = wilson(correct, images)
    assert Fraction(100 * correct, images) in found
    assert 0 <= found.low < found.high <= 100
    mirrored = wilson(images - correct, images)
    assert (100 - mirrored.high, 100 - mirrored.low) == (found.low, found.high)


def test_wilson_of_nothing_leaves_everything_open() -> None:
    assert wilson(0, 0) == Interval(Fraction(0), Fraction(100))


@given(st.integers(0, 60), st.integers(1, 60), st.integers(0, 1000), st.integers(1, 1000))
def test_a_sample_that_decides_could_have_failed(correct: int, images: int, tenths: int, difference: int) -> None:
    """It holds no number so far from the printed one, and other outcomes of it lie below and above what is printed."""
    one = Sample(min(correct, images), 0, images)
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
    assert find_others(printed, Fraction(points)) == others


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
