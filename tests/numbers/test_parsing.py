"""Each form that papers print stands for the interval that its digits and its unit give, by a formula written out."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.numbers.interval import Interval
from imlp_audit.numbers.parsing import SCALES, NumberForm, parse_printed
from imlp_audit.numbers.printed import Rounding

COUNTS = {unit: NumberForm(unit, nouns=("params", "flops", "macs", "mult-adds")) for unit in ("", "M", "G")}


def half_up(low: str, high: str) -> Interval:
    return Interval(Fraction(low), Fraction(high), True, False)


@pytest.mark.parametrize(
    ("text", "unit", "interval"),
    [
        ("25.6M", "M", half_up("25550000", "25650000")),
        ("25.6M", "", half_up("25550000", "25650000")),
        ("25.6 M params", "G", half_up("25550000", "25650000")),
        ("0.3B", "M", half_up("250000000", "350000000")),
        ("0.3T", "M", half_up("250000000000", "350000000000")),
        ("0.3k", "M", half_up("250", "350")),
        ("0.3K", "M", half_up("250", "350")),
        ("4.1 GFLOPs", "G", half_up("4050000000", "4150000000")),
        ("4.1GFLOPS", "M", half_up("4050000000", "4150000000")),
        ("600 MMult-Adds", "G", half_up("599500000", "600500000")),
        ("126 MACs", "", half_up("125.5", "126.5")),
        ("4.1×10^9", "G", half_up("4050000000", "4150000000")),
        ("4.1 x 10^{9} FLOPs", "M", half_up("4050000000", "4150000000")),
        ("2.20·10⁷", "M", half_up("21950000", "22050000")),
        ("5*10^10", "", half_up("45000000000", "55000000000")),
        ("~25.6", "M", half_up("25550000", "25650000")),
        ("≈ 25.6M", "M", half_up("25550000", "25650000")),
        ("~1,415.1", "", half_up("1415.05", "1415.15")),
    ],
)
def test_a_count_may_state_its_own_scale_and_what_it_counts(text: str, unit: str, interval: Interval) -> None:
    printed = parse_printed(text, COUNTS[unit])
    assert (printed.interval(), printed.text) == (interval, text)
    assert (printed.unit == "") == (text.lstrip("~≈ ").strip("0123456789,. ") in ("", unit))


@given(st.integers(1, 10**6), st.integers(0, 3), st.sampled_from(list(SCALES)), st.sampled_from(Rounding))
def test_a_scale_of_its_own_is_as_good_as_the_columns(number: int, places: int, scale: str, rule: Rounding) -> None:
    text = f"{number // 10**places}.{number % 10**places:0{places}d}" if places else str(number)
    ours, theirs = parse_printed(text + scale, COUNTS["G"]), parse_printed(text, NumberForm(scale))
    assert ours.interval(rule) == theirs.interval(rule)
    assert ours.gap(number) == theirs.gap(number)


@pytest.mark.parametrize(
    ("text", "form", "side"),
    [
        *(("224^2", "side", 224), ("224²", "side", 224), ("224x224", "side", 224), ("224 × 224", "side", 224)),
        *(("14^2", "area", 196), ("14×14", "area", 196), ("384^{2}", "side", 384), ("224", "side", 224)),
    ],
)
def test_a_square_is_its_side_or_its_area(text: str, form: str, side: int) -> None:
    printed = parse_printed(text, NumberForm("", square="side" if form == "side" else "area"))
    assert printed.interval() == half_up(f"{side - 1}.5", f"{side}.5")


@pytest.mark.parametrize("text", ["(-12.6%)", "( -12.6 %)", "(-12.6)%", "-12.6%", "(−12.6)"])
def test_brackets_round_a_change_change_nothing(text: str) -> None:
    printed = parse_printed(text, "%")
    assert printed.interval() == Interval(Fraction("-12.65"), Fraction("-12.55"), False, True)
    assert printed.negated.value == Fraction("12.6")
    assert parse_printed(printed.negated.text, "%").negated.value == printed.value


@pytest.mark.parametrize(
    "text", ["72.2 ± 0.1", "72.2±0.1", "72.2 +/- 0.1", "72.2 +- 0.1%", "(72.2 ± 0.1)%", r"72.2 \pm 0.1", "72.2% ± 0.1%"]
)
def test_a_mean_has_its_own_interval_and_that_of_its_runs(text: str) -> None:
    printed = parse_printed(text, "%")
    assert printed.interval() == half_up("72.15", "72.25")
    assert printed.runs == Interval(Fraction("72.1"), Fraction("72.3"))
    assert parse_printed(printed.write(Fraction("72.3")), "%").spread == Fraction("0.1")
    assert parse_printed("72.2", "%").runs is None


@pytest.mark.parametrize(
    ("text", "form", "message"),
    [
        ("1,5", NumberForm("M"), "has a decimal comma; write a point in its place"),
        ("1.415.100", NumberForm("M"), "is not a printed number"),  # its points could only be groups
        (f"1.{'5' * 39}", NumberForm("M"), "is not a printed number"),
        ("(12.6%)", NumberForm("%"), "may be a decrease or not, in brackets without a sign"),
        ("224^2", COUNTS["M"], "is a square, which only columns of settings"),
        ("224x192", NumberForm("", square="side"), "is not a printed number"),
        ("126 MACs", COUNTS["M"], "is in 'MACs', but 'M' is expected"),
        ("25.6m", COUNTS["M"], "is in 'm', but 'M' is expected"),
        ("4.1 GFLOPs", NumberForm("M"), "is in 'GFLOPs', but 'M' is expected"),
        ("25.6M ± 0.3", NumberForm("M"), "has a unit in its first part only"),
        ("~72.2 ± 0.1", NumberForm("%"), "is not a printed number"),
        ("72.2 ± -0.1", NumberForm("%"), "is not a printed number"),
        ("72.2 ± 0.1 ± 0.2", NumberForm("%"), "is not a printed number"),
        ("22-25", COUNTS["M"], "is not a printed number"),
        ("<1", COUNTS["M"], "is not a printed number"),
        ("5×10^", COUNTS[""], "is not a printed number"),
        ("5×9^6", COUNTS[""], "is not a printed number"),
        ("5×10^6M", COUNTS["M"], "but 'M' is expected here"),
        ("5×10^6", NumberForm("M"), "but 'M' is expected here"),
    ],
)
def test_what_could_mean_two_things_is_refused_with_what_to_write(text: str, form: NumberForm, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_printed(text, form)


@given(st.text("0123456789.,~≈±+-−()% ^²xMGflops", max_size=12), st.sampled_from(list(COUNTS.values())))
def test_any_text_of_such_signs_is_refused_or_holds_its_value(text: str, form: NumberForm) -> None:
    try:
        printed = parse_printed(text, form)
    except ValueError:
        return
    assert printed.value * printed.scale in printed.interval()
    assert parse_printed(printed.text, form) == printed
