from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.checks.comparison import Comparison, Measured, Ways
from imlp_audit.checks.comparison import compare as compare_ways
from imlp_audit.numbers.parsing import parse_printed
from imlp_audit.numbers.printed import LIKELY, Printed, Rounding
from imlp_audit.records.check import Verdict
from tests.strategies import NAMES, declared_roundings, measurements

HALF_UP, HALF_EVEN, TRUNCATION = Rounding.HALF_UP, Rounding.HALF_EVEN, Rounding.TRUNCATION
CEILING, DOUBLE = Rounding.CEILING, Rounding.DOUBLE
FITS, MISSES = 5_000_000, 5_100_000  # "5.00" M is half-up of [4 995 000, 5 005 000)
CUT = 5_009_999  # which only truncation makes 5.00
PRINTED = parse_printed("5.00", "M")


def compare(
    printed: Printed,
    declared: Sequence[Measured],
    roundings: Sequence[Rounding],
    undeclared: Sequence[Measured] = (),
    rules: Sequence[Rounding] = (),
) -> Comparison:
    """Compare a number where all that is declared is allowed."""
    return compare_ways(printed, Ways(declared, declared, roundings, rules or roundings, undeclared))


def texts(found: Comparison) -> tuple[str, ...]:
    return tuple(map(str, found.hints))


def measured(value: int, reading: str = "a", convention: str = "x", *uncounted: str) -> Measured:
    return Measured(Fraction(value), reading, convention, uncounted)


@pytest.mark.parametrize(
    ("undeclared", "hints"),
    [
        ([measured(FITS, "a", "y")], ["5 000 000 would fit under convention y, which the spec does not declare"]),
        (
            [measured(FITS, "b", "y")],
            ["5 000 000 would fit under reading b, convention y, which the spec does not declare"],
        ),
        ([measured(FITS, "a", "y", "fft")], []),
        ([measured(MISSES, "a", "y")], []),
        ([], []),
    ],
)  # fmt: skip
def test_an_undeclared_measurement_that_fits_is_a_hint(undeclared: list[Measured], hints: list[str]) -> None:
    comparison = compare(PRINTED, [measured(MISSES)], [HALF_UP], undeclared)
    assert comparison.verdict is Verdict.DIFFERS
    assert [hint for hint in texts(comparison) if "rounding" not in hint] == hints


def test_a_hint_names_what_is_not_declared_and_not_what_is() -> None:
    declared = [measured(MISSES, "a", "x"), measured(CUT, "a", "y")]
    rounding, both = (
        "5 009 999 would fit under convention y, rounding truncation; the spec does not declare rounding truncation",
        "5 009 999 would fit under convention y, rounding truncation, which the spec does not declare",
    )
    assert texts(compare(PRINTED, declared, [HALF_UP])) == (rounding,)
    assert texts(compare(PRINTED, declared[:1], [HALF_UP], declared[1:])) == (both,)


def test_hints_prefer_the_smallest_change() -> None:
    """One choice that the spec does not declare is a hint once; two such are one only where no one will do."""
    counters = [measured(CUT + n, "a", name) for n, name in enumerate("yzu", start=-3)]
    alone = "5 009 999 would fit under rounding truncation, which the spec does not declare"
    assert texts(compare(PRINTED, [measured(CUT)], [HALF_UP], counters)) == (alone,)
    both = "5 009 996 would fit under convention y, rounding truncation, which the spec does not declare"
    assert texts(compare(PRINTED, [measured(MISSES)], [HALF_UP], counters))[0] == both
    for names in ("yz", "zy"):
        either = [measured(FITS, "a", name) for name in names]
        assert texts(compare(PRINTED, [measured(MISSES)], [HALF_UP], either)) == tuple(
            f"5 000 000 would fit under convention {name}, which the spec does not declare" for name in names
        )


def test_two_changes_are_no_hint_where_another_one_will_do() -> None:
    counters = [measured(CUT, "a", "y"), measured(FITS, "a", "z")]
    alone = "5 000 000 would fit under convention z, which the spec does not declare"
    assert texts(compare(PRINTED, [measured(MISSES)], [HALF_UP], counters)) == (alone,)


def test_a_hint_names_how_it_departs_from_what_a_number_was_judged_under() -> None:
    """Judged by y, cut off: what follows from it rounded half up, which is declared, needs no other counter."""
    judged, other = measured(4_996_000, "a", "y"), measured(4_997_000, "a", "z")
    found = compare(PRINTED, [judged], [TRUNCATION], [other], rules=[HALF_UP, TRUNCATION])
    assert texts(found)[0] == "4 996 000 would fit under rounding half_up, which it was not judged under"
    assert not any("convention z" in hint for hint in texts(found))


@pytest.mark.parametrize(
    ("value", "gap"),
    [
        (5_020_000, "2 units of the last printed digit above 5.00 (0.4 %)"),
        (5_010_000, "1 unit of the last printed digit above 5.00 (0.2 %)"),
        (4_985_000, "1.5 units of the last printed digit below 5.00 (0.3 %)"),
        (5_021_000, "2.1 units of the last printed digit above 5.00 (0.42 %)"),
        (5_062_000, "6.2 units of the last printed digit above 5.00 (1.2 %)"),
        (50_000_000, "(900 %)"),
    ],
)
def test_a_miss_is_reported_with_its_distance(value: int, gap: str) -> None:
    assert gap in compare(PRINTED, [measured(value)], [HALF_UP]).reason


def test_a_distance_of_less_than_a_hundredth_of_a_percent_is_not_given_in_percent() -> None:
    found = compare(parse_printed("5000.0", "M"), [measured(5_000_100_000)], [HALF_UP])
    assert found.reason.endswith("1 unit of the last printed digit above 5000.0")
    nearly = compare(parse_printed("5000.0", "M"), [measured(5_000_300_000)], [HALF_UP])
    assert nearly.reason.endswith("3 units of the last printed digit above 5000.0 (0.01 %)")


@pytest.mark.parametrize(
    ("text", "unit", "value", "gap"),
    [
        ("0.00", "M", 20_000, "2 units of the last printed digit above 0.00"),  # of nothing, there is no share
        ("12.6", "", 13, "4 units of the last printed digit above 12.6"),  # may be a percentage
        ("999", "", 1000, "1 unit of the last printed digit above 999"),
        ("1000", "", 1002, "2 units of the last printed digit above 1000 (0.2 %)"),
        ("1.0", "K", 1200, "2 units of the last printed digit above 1.0 (20 %)"),
    ],
)
def test_a_distance_is_given_in_percent_of_a_total_alone(text: str, unit: str, value: int, gap: str) -> None:
    assert compare(parse_printed(text, unit), [measured(value)], [HALF_UP]).reason.endswith(gap)


FIVE = parse_printed("5")
# The values that print as "5", written out: halves and more up, to the even digit (odd 5 loses both ties), ...
PRINTS_5 = {
    HALF_UP: lambda v: Fraction(9, 2) <= v < Fraction(11, 2),
    HALF_EVEN: lambda v: Fraction(9, 2) < v < Fraction(11, 2),
    TRUNCATION: lambda v: 5 <= v < 6,
    CEILING: lambda v: 4 < v <= 5,
    DOUBLE: lambda v: Fraction(89, 20) <= v < Fraction(109, 20),
}


def fitting(declared: Sequence[Measured], roundings: Sequence[Rounding]) -> list[tuple[Measured, Rounding]]:
    pairs = product(declared, roundings)
    return [(one, rule) for one, rule in pairs if not one.uncounted and PRINTS_5[rule](one.value)]


declared_lists = measurements(NAMES, min_size=1)
undeclared_lists = measurements([("a", "z"), ("b", "z")])


@given(declared_lists, declared_roundings)
def test_the_verdict_is_that_of_the_definition(declared: list[Measured], roundings: list[Rounding]) -> None:
    comparison = compare(FIVE, declared, roundings)
    found = fitting(declared, roundings)
    if (declared[0], roundings[0]) in found:
        assert comparison.verdict is Verdict.REPRODUCED
    elif found:
        assert comparison.verdict is Verdict.REPRODUCED_UNDER
    elif any(one.uncounted for one in declared):
        assert comparison.verdict is Verdict.UNVERIFIABLE
    else:
        assert comparison.verdict is Verdict.DIFFERS


@given(declared_lists, declared_roundings)
def test_a_pass_names_its_departures_and_no_others(declared: list[Measured], roundings: list[Rounding]) -> None:
    comparison = compare(FIVE, declared, roundings)
    if comparison.verdict in (Verdict.REPRODUCED, Verdict.REPRODUCED_UNDER):
        assert (comparison.deciding, comparison.rounding) in fitting(declared, roundings)
        here = (comparison.deciding.reading, comparison.deciding.convention, comparison.rounding)
        usual = (declared[0].reading, declared[0].convention, roundings[0])
        names = ("reading", "convention", "rounding")
        assert comparison.under == tuple(
            f"{name} {one}" for name, one, other in zip(names, here, usual, strict=True) if one != other
        )
        assert texts(comparison) == ()
    else:
        assert comparison.under == ()


@given(declared_lists, declared_roundings)
def test_every_declared_measurement_is_recorded_once(declared: list[Measured], roundings: list[Rounding]) -> None:
    comparison = compare(FIVE, declared, roundings)
    others = [one for one in declared if one != comparison.deciding]
    assert comparison.deciding in declared
    assert [(one.reading, one.convention) for one in comparison.also] == [(o.reading, o.convention) for o in others]
    for one, told in zip(others, comparison.also, strict=True):
        assert Fraction(told.measured) == one.value
        fits = PRINTS_5[roundings[0]](one.value)
        alone = Verdict.REPRODUCED if fits else Verdict.DIFFERS
        assert told.verdict is (Verdict.UNVERIFIABLE if one.uncounted else alone)


@given(declared_lists, declared_roundings, undeclared_lists)
def test_undeclared_measurements_change_nothing_but_hints(
    declared: list[Measured], roundings: list[Rounding], undeclared: list[Measured]
) -> None:
    with_them = compare(FIVE, declared, roundings, undeclared)
    assert replace(with_them, hints=()) == replace(compare(FIVE, declared, roundings), hints=())


@given(declared_lists, declared_roundings, undeclared_lists)
def test_hints_name_what_is_not_declared(
    declared: list[Measured], roundings: list[Rounding], undeclared: list[Measured]
) -> None:
    comparison = compare(FIVE, declared, roundings, undeclared)
    could_fit = fitting([*declared, *undeclared], LIKELY)
    assert bool(texts(comparison)) == (comparison.verdict is Verdict.DIFFERS and bool(could_fit))
    assert all(
        ", which the spec does not declare" in h or "; the spec does not declare" in h for h in texts(comparison)
    )


@given(st.sampled_from(Rounding), st.integers(0, 12))
def test_a_pass_survives_declaring_more(rule: Rounding, twentieths: int) -> None:
    value = Measured(5 + Fraction(twentieths - 6, 20))
    alone = compare(FIVE, [value], [rule]).verdict
    more = compare(FIVE, [value, Measured(Fraction(9), "b")], [rule, *(r for r in Rounding if r is not rule)]).verdict
    assert alone is not Verdict.REPRODUCED or more is Verdict.REPRODUCED
