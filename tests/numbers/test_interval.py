from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from imlp_audit.numbers.interval import Interval, decimal_text, readable
from imlp_audit.numbers.parsing import parse_printed
from tests.strategies import extremes, grid, intervals, members


def holds_exactly(result: Interval, low: Fraction, high: Fraction) -> None:
    """Check ends against members that are the extreme ones, or stand a billionth of the range beside them."""
    close = Fraction(1, 10**5)
    assert low in result
    assert high in result
    assert low - result.low < close
    assert result.high - high < close
    assert result.low_closed is (result.low == low)
    assert result.high_closed is (result.high == high)


@given(intervals(), grid(-4, 4))
def test_membership_is_that_of_the_definition(interval: Interval, value: Fraction) -> None:
    assert (value in interval) == (value in members(interval))


@given(intervals(), intervals())
def test_intervals_meet_where_they_share_a_member(one: Interval, other: Interval) -> None:
    shared = set(members(one)) & set(members(other))
    assert one.meets(other) == bool(shared)
    assert other.meets(one) == bool(shared)


@given(intervals(), intervals())
def test_order_is_that_of_all_members(one: Interval, other: Interval) -> None:
    pairs = [(x, y) for x in members(one) for y in members(other)]
    assert (one < other) == all(x < y for x, y in pairs)
    assert (one <= other) == all(x <= y for x, y in pairs)
    assert (one > other) == all(x > y for x, y in pairs)
    assert (one >= other) == all(x >= y for x, y in pairs)


@given(intervals())
def test_negation_holds_the_negatives(interval: Interval) -> None:
    assert set(members(-interval)) == {-value for value in members(interval)}


@given(intervals(), intervals())
def test_differences_are_tight(one: Interval, other: Interval) -> None:
    (low, high), (other_low, other_high) = extremes(one), extremes(other)
    holds_exactly(one - other, low - other_high, high - other_low)


@given(intervals(), intervals())
def test_sums_are_sound_and_tight(one: Interval, other: Interval) -> None:
    assert all(x + y in one + other for x in members(one) for y in members(other))
    (low, high), (other_low, other_high) = extremes(one), extremes(other)
    holds_exactly(one + other, low + other_low, high + other_high)


@given(intervals(), grid(-3, 3).filter(bool))
def test_multiples_are_sound_and_tight(interval: Interval, factor: Fraction) -> None:
    scaled = interval * factor
    assert all(value * factor in scaled for value in members(interval))
    low, high = sorted(end * factor for end in extremes(interval))
    holds_exactly(scaled, low, high)


def percent(value: Fraction, base: Fraction) -> Fraction:
    return 100 * (value - base) / base


@given(intervals(0, 4), intervals(1, 4))
@example(Interval.point(0), Interval(Fraction(1), Fraction(2), low_closed=False, high_closed=False))
def test_ratios_are_sound_and_tight(value: Interval, base: Interval) -> None:
    ratios = value.ratio_to(base)
    assert ratios is not None
    assert all(x / y in ratios for x in members(value) for y in members(base))
    (low, high), (base_low, base_high) = extremes(value), extremes(base)
    holds_exactly(ratios, low / base_high, high / base_low)


@given(intervals(0, 4), intervals(1, 4))
def test_changes_are_sound_and_tight(value: Interval, base: Interval) -> None:
    changes = value.change_from(base)
    assert changes is not None
    assert all(percent(x, y) in changes for x in members(value) for y in members(base))
    (low, high), (base_low, base_high) = extremes(value), extremes(base)
    holds_exactly(changes, percent(low, base_high), percent(high, base_low))


@pytest.mark.parametrize(
    ("value", "base"),
    [
        (Interval.point(1), Interval.point(0)),
        (Interval.point(1), Interval(Fraction(0), Fraction(1), low_closed=False)),
        (Interval.point(1), Interval(Fraction(-1), Fraction(1))),
        (Interval.point(1), Interval.point(-1)),
        (Interval(Fraction(-1), Fraction(1)), Interval.point(1)),
    ],
)
def test_no_change_or_ratio_from_a_base_that_may_be_zero_or_negative(value: Interval, base: Interval) -> None:
    assert value.change_from(base) is None
    assert value.ratio_to(base) is None


def position(value: Fraction, start: Fraction, end: Fraction) -> Fraction:
    return 100 * (value - start) / (end - start)


def apart(one: Interval, other: Interval) -> bool:
    """Whether some room is left between two intervals, which has to be if the way between them has a length."""
    return max(one.low, other.low) > min(one.high, other.high)


@given(intervals(-1, 1), intervals(-1, 1), intervals(-1, 1))
def test_positions_are_sound_and_tight(value: Interval, start: Interval, end: Interval) -> None:
    positions = value.position_between(start, end)
    assert (positions is not None) == apart(start, end)
    if positions is None:
        return
    assert all(position(x, a, b) in positions for x in members(value) for a in members(start) for b in members(end))
    corners = [position(x, a, b) for x in extremes(value) for a in extremes(start) for b in extremes(end)]
    close = Fraction(1, 10**5)
    assert min(corners) - positions.low < close
    assert positions.high - max(corners) < close


@given(intervals(), intervals(), intervals())
def test_a_position_is_the_rest_of_the_way_from_the_other_end(value: Interval, start: Interval, end: Interval) -> None:
    there, back = value.position_between(start, end), value.position_between(end, start)
    assert (there is None) == (back is None)
    assert there is None or back is None or back == Interval.point(100) - there


def test_positions_of_numbers() -> None:
    start, end = Interval.point(3), Interval.point(6)
    for value, percent_of_the_way in ((3, 0), (4, Fraction(100, 3)), (6, 100), (9, 200), (0, -100)):
        assert Interval.point(value).position_between(start, end) == Interval.point(percent_of_the_way)
    assert Interval.point(5).position_between(end, start) == Interval.point(Fraction(100, 3))
    assert Interval.point(3).position_between(start, start) is None


def test_between_neighbouring_printed_numbers_there_is_no_position() -> None:
    """2.9 and 3.0 may stand for numbers as close as one likes."""
    start, end = parse_printed("2.9").interval(), parse_printed("3.0").interval()
    assert start < end
    assert Interval.point(3).position_between(start, end) is None
    assert parse_printed("2.8").interval().position_between(start, end) is None


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0, 4, "0"),
        (5, 4, "5"),
        (-5, 4, "-5"),
        (1200, 4, "1200"),
        (Fraction(1, 8), 4, "0.125"),
        (Fraction(-1, 8), 4, "-0.125"),
        (Fraction(1, 8), 2, "0.12"),  # to the even digit
        (Fraction(3, 8), 2, "0.38"),
        (Fraction(2, 3), 4, "0.6667"),
        (Fraction(-1, 20001), 4, "0"),
        (Fraction(-1, 10**9), 4, "0"),
        (Fraction(99999, 100000), 4, "1"),
        (Fraction(1001, 1000), 4, "1.001"),
    ],
)
def test_decimal_text(value: Fraction | int, digits: int, text: str) -> None:
    assert decimal_text(value, digits) == text


@given(st.integers(-(10**9), 10**9), st.integers(0, 9), st.integers(1, 6))
def test_decimal_text_is_the_decimal_rounded_half_to_even(numerator: int, places: int, digits: int) -> None:
    exact = Decimal(numerator).scaleb(-places)
    text = decimal_text(Fraction(numerator, 10**places), digits)
    assert Decimal(text) == exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_EVEN)
    assert text != "-0"
    assert "." not in text or text[-1] not in "0."


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (999, "999"),
        (1000, "1 000"),
        (-4998184, "-4 998 184"),
        (Fraction(-1, 2), "-0.5"),
        (Fraction(-1, 10**9), "0"),
        (Fraction(123456789, 10000), "12 345.6789"),
    ],
)
def test_readable_numbers_are_in_groups_of_three(value: Fraction | int, text: str) -> None:
    assert readable(value) == text


@given(st.fractions(max_denominator=10**6))
def test_readable_is_decimal_text_with_spaces(value: Fraction) -> None:
    assert readable(value).replace(" ", "") == decimal_text(value)


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        (Interval(Fraction(4995000), Fraction(5005000), True, False), "[4 995 000, 5 005 000)"),
        (Interval(Fraction(-1, 2), Fraction(1, 2), False, True), "(-0.5, 0.5]"),
    ],
)
def test_an_interval_is_written_with_its_ends(interval: Interval, text: str) -> None:
    assert str(interval) == text
