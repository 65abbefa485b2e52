from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from imlp_audit.numbers.interval import Interval
from imlp_audit.numbers.parsing import SCALES, parse_printed
from imlp_audit.numbers.printed import Rounding

STEPS = {
    Rounding.HALF_UP: (ROUND_HALF_UP,),
    Rounding.HALF_EVEN: (ROUND_HALF_EVEN,),
    Rounding.TRUNCATION: (ROUND_DOWN,),
    Rounding.CEILING: (ROUND_CEILING,),
    Rounding.DOUBLE: (ROUND_HALF_UP, ROUND_HALF_UP),
}


def rounded(value: Fraction, digits: int, rule: Rounding) -> Decimal:
    """Round as `decimal` does, once, or twice with one digit more first; sixty digits tell any value from a tie."""
    with localcontext(prec=60):
        exact = Decimal(value.numerator) / value.denominator
        for extra, how in reversed(list(enumerate(reversed(STEPS[rule])))):
            exact = exact.quantize(Decimal(1).scaleb(-digits - extra), how)
        return exact


def test_every_rule_is_tested() -> None:
    assert set(STEPS) == set(Rounding)


@pytest.mark.parametrize("rule", Rounding)
@pytest.mark.parametrize("text", ["-3", "-2", "-1", "-0", "0", "1", "2", "3"])
def test_the_interval_contains_what_prints_so_near_every_end(text: str, rule: Rounding) -> None:
    interval = parse_printed(text).interval(rule)
    nudges = [Fraction(0), Fraction(1, 10**6), Fraction(-1, 10**6)]
    values = [Fraction(n, 20) + nudge for n in range(-90, 91) for nudge in nudges]
    assert [v for v in values if v in interval] == [v for v in values if rounded(v, 0, rule) == Decimal(text)]


@given(
    numerator=st.integers(-(10**6), 10**6),
    denominator=st.sampled_from([1, 3, 7, 8, 20, 1000, 20000]),
    digits=st.integers(0, 4),
    rule=st.sampled_from(Rounding),
    off=st.integers(-2, 2),
)
@example(1, 20, 1, Rounding.HALF_UP, 0)
@example(-1, 20, 1, Rounding.CEILING, 0)
def test_a_value_lies_in_the_interval_if_and_only_if_it_prints_so(
    numerator: int, denominator: int, digits: int, rule: Rounding, off: int
) -> None:
    value = Fraction(numerator, denominator)
    prints = rounded(value, digits, rule)
    text = f"{prints + off * Decimal(1).scaleb(-digits):.{digits}f}"
    assert (value in parse_printed(text).interval(rule)) == (prints == Decimal(text))


@given(st.integers(-(10**6), 10**6), st.integers(0, 6), st.sampled_from(["", "%", "M", "G"]))
def test_value_and_step_are_those_of_the_digits(digits: int, places: int, unit: str) -> None:
    text = f"{Decimal(digits).scaleb(-places):f}"
    printed = parse_printed(f"{text}{unit}", unit)
    assert printed.value == Fraction(digits, 10**places)
    assert printed.step == Fraction(1, 10**places)


@pytest.mark.parametrize(
    ("text", "unit", "low", "high"),
    [
        ("5.00", "M", 4_995_000, 5_005_000),
        ("1.26G", "G", 1_255_000_000, 1_265_000_000),
        ("48M", "M", 47_500_000, 48_500_000),
        ("1.5B", "B", 1_450_000_000, 1_550_000_000),
        ("2T", "T", 1_500_000_000_000, 2_500_000_000_000),
        ("7k", "k", 6_500, 7_500),
        ("7K", "K", 6_500, 7_500),
        ("1,415.1", "images/s", Fraction(141505, 100), Fraction(141515, 100)),
        ("1,234,567", "", Fraction(2469133, 2), Fraction(2469135, 2)),
        ("+0.4 %", "%", Fraction(35, 100), Fraction(45, 100)),
        (" 72.2 ", "%", Fraction(7215, 100), Fraction(7225, 100)),
    ],
)
def test_half_up_reaches_from_half_a_digit_below_to_under_half_above(
    text: str, unit: str, low: Fraction, high: Fraction
) -> None:
    assert parse_printed(text, unit).interval() == Interval(Fraction(low), Fraction(high), True, False)


@pytest.mark.parametrize("sign", ["-", "−", "–"])
def test_every_minus_sign_is_understood(sign: str) -> None:
    printed = parse_printed(f"{sign}12.6%", "%")
    assert printed.value == Fraction(-126, 10)
    assert printed.interval() == Interval(Fraction(-1265, 100), Fraction(-1255, 100), False, True)


@pytest.mark.parametrize("rule", Rounding)
@pytest.mark.parametrize("text", ["0.00", "-0.00", "+0.00", "−0.00"])
def test_a_printed_zero_stands_for_both_signs(text: str, rule: Rounding) -> None:
    interval = parse_printed(text).interval(rule)
    assert 0 in interval
    assert Fraction(-1, 1000) in interval
    assert (Fraction(1, 1000) in interval) == (rule is not Rounding.CEILING)


def test_the_text_is_kept_as_printed() -> None:
    assert parse_printed(" 5.00 ", "M").text == "5.00"
    assert parse_printed("−12.60 %", "%").text == "−12.60 %"


@pytest.mark.parametrize(("unit", "scale"), [*SCALES.items(), ("%", 1), ("images/s", 1), ("", 1)])
def test_a_unit_scales_the_interval(unit: str, scale: int) -> None:
    assert parse_printed("2", unit).interval() == Interval(Fraction(3, 2) * scale, Fraction(5, 2) * scale, True, False)


@pytest.mark.parametrize(
    ("text", "unit", "measured", "gap"),
    [
        ("5.00", "M", 5_000_000, 0),
        ("5.00", "M", 4_998_000, Fraction(-1, 5)),
        ("5.00", "M", 5_020_000, 2),
        ("-12.6", "%", Fraction(-124, 10), 2),
        ("3", "G", 2_500_000_000, Fraction(-1, 2)),
    ],
)
def test_the_gap_is_in_units_of_the_last_digit(text: str, unit: str, measured: Fraction, gap: Fraction) -> None:
    assert parse_printed(text, unit).gap(measured) == gap


@pytest.mark.parametrize(
    "text",
    [
        *("abc", "", " ", "-", ".", "5.", ".5", "12,34.5", "1.2.3", "1e6", "5..0"),
        *("--5", "+-5", "0x10", "5_0", "５", "١", "nan", "inf", "5.0 0", "1 415", "5M2", "½", "5\x00", "9" * 41),
    ],
)
def test_texts_that_are_not_printed_numbers(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a printed number; write it as printed, e\.g\. 5\.00"):
        parse_printed(text, "M")


def test_a_number_has_at_most_40_characters() -> None:
    assert parse_printed("9" * 40, "").value == 10**40 - 1


@pytest.mark.parametrize(
    ("text", "unit", "told"),
    [
        ("5.00 G", "M", "'5.00 G' is in 'G', but 'M' is expected here"),
        ("5.00m", "M", "'5.00m' is in 'm', but 'M' is expected here"),
        ("5.00%", "", "'5.00%' is in '%', but 'no unit' is expected here"),
        ("5.00k", "K", "'5.00k' is in 'k', but 'K' is expected here"),
    ],
)
def test_a_wrong_unit_is_rejected(text: str, unit: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        parse_printed(text, unit)


def test_very_long_digits_are_rejected_without_printing_all_of_them() -> None:
    with pytest.raises(ValueError, match="is not a printed number") as raised:
        parse_printed("9" * 10_000)
    assert len(str(raised.value)) < 200


@given(st.text(max_size=45))
def test_any_text_is_read_or_rejected(text: str) -> None:
    try:
        printed = parse_printed(text, "M")
    except ValueError:
        return
    assert printed.step <= 1
