from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.checks.deltas_and_repeats import agree, follows_from_cells
from imlp_audit.numbers.parsing import parse_printed
from imlp_audit.numbers.printed import Printed, Rounding
from imlp_audit.records.check import Verdict
from tests.strategies import extremes, printed_numbers, roundings

HALF_UP = Rounding.HALF_UP


@pytest.mark.parametrize(
    ("cell", "base", "delta", "verdict"),
    [
        ("5.00", "5.72", "-12.6%", Verdict.REPRODUCED),  # 4.995/5.725 - 1 = -12.75 % to 5.005/5.715 - 1 = -12.42 %
        ("5.00", "5.72", "-12.8%", Verdict.REPRODUCED),  # (-12.85, -12.75] and -12.751 share -12.751
        ("5.00", "5.72", "-12.3%", Verdict.INCONSISTENT),
        ("5", "6", "0%", Verdict.REPRODUCED),  # both 5.49...9 and 5.5, less than half a percent apart
        ("5", "6", "-30.8%", Verdict.REPRODUCED),  # 4.5 from just under 6.5 is just over -30.77 %
        ("5", "6", "-30.9%", Verdict.INCONSISTENT),
        ("1", "1", "200%", Verdict.REPRODUCED),  # just under 1.5 from 0.5 is just under 200 %
        ("1", "1", "201%", Verdict.INCONSISTENT),
        ("5.00", "0.00", "10%", Verdict.UNVERIFIABLE),
    ],
)
def test_a_printed_change_and_its_cells(cell: str, base: str, delta: str, verdict: Verdict) -> None:
    numbers = parse_printed(delta, "%"), parse_printed(cell), parse_printed(base)
    agreement = follows_from_cells(*numbers, [HALF_UP])
    found, reason = agreement.verdict, agreement.reason
    assert found is verdict
    assert base in reason


def witness(cell: Printed, base: Printed, delta: Printed, rule: Rounding) -> bool:
    """Say whether values exist that print as the cells and whose change prints as the delta.

    They form a polygon with the cells and the change constant along its sides, so one of its corners, or the
    member next to it, is a witness: two of the three are at an end and the third follows.
    """
    cells, bases, changes = (number.interval(rule) for number in (cell, base, delta))
    corners = [
        *((x, b) for x, b in product(extremes(cells), extremes(bases))),
        *((b * (1 + c / 100), b) for b, c in product(extremes(bases), extremes(changes))),
        *((x, x / (1 + c / 100)) for x, c in product(extremes(cells), extremes(changes)) if c != -100),
    ]
    return any(x in cells and b in bases and (x - b) * 100 / b in changes for x, b in corners if b > 0)


@given(printed_numbers(30, 60), printed_numbers(30, 60), st.data(), roundings)
def test_a_change_follows_if_and_only_if_some_values_have_it(
    cell: Printed, base: Printed, data: st.DataObject, rule: Rounding
) -> None:
    around = [100 * (x - b) / b for x in extremes(cell.interval(rule)) for b in extremes(base.interval(rule))]
    near = data.draw(st.sampled_from(around))
    digits = data.draw(st.integers(0, 2))
    off = data.draw(st.integers(-2, 2)) * Fraction(1, 10**digits)
    delta = parse_printed(f"{float(near + off):.{digits}f}", "%")
    verdict = follows_from_cells(delta, cell, base, [rule]).verdict
    assert verdict is (Verdict.REPRODUCED if witness(cell, base, delta, rule) else Verdict.INCONSISTENT)


def half_up(value: Fraction, digits: int) -> str:
    exact = Decimal(value.numerator) / value.denominator
    return f"{exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP):f}"


@given(st.integers(10**5, 10**7), st.integers(10**5, 10**7), st.integers(0, 2), st.integers(0, 3))
def test_an_honest_paper_is_never_called_inconsistent(value: int, base: int, digits: int, places: int) -> None:
    change = half_up(100 * Fraction(value - base, base), places)
    cell, under = (half_up(Fraction(v, 10**5), digits) for v in (value, base))
    delta, cells = parse_printed(change, "%"), (parse_printed(cell), parse_printed(under))
    verdict = follows_from_cells(delta, *cells, [HALF_UP]).verdict
    assert verdict is Verdict.REPRODUCED


@given(printed_numbers(-30, 30), printed_numbers(-30, 30), roundings)
def test_agreement_is_a_shared_value(one: Printed, other: Printed, rule: Rounding) -> None:
    here, there = one.interval(rule), other.interval(rule)
    shared = any(v in there for v in extremes(here)) or any(v in here for v in extremes(there))
    assert agree(one, other, "x", [rule]).verdict is (Verdict.REPRODUCED if shared else Verdict.INCONSISTENT)
    assert agree(other, one, "x", [rule]).verdict is agree(one, other, "x", [rule]).verdict


def test_cells_in_different_units_are_compared_in_base_units() -> None:
    assert agree(parse_printed("5720", "k"), parse_printed("5.72", "M"), "x", [HALF_UP]).verdict is Verdict.REPRODUCED
    assert agree(parse_printed("5.72", "k"), parse_printed("5.72", "M"), "x", [HALF_UP]).verdict is Verdict.INCONSISTENT


def test_a_change_between_numbers_in_different_units_is_computed_in_base_units() -> None:
    """From 20 M to 5 B is 249 times 100 % more."""
    found = follows_from_cells(parse_printed("-75%", "%"), parse_printed("5", "B"), parse_printed("20", "M"), [HALF_UP])
    assert (found.verdict, found.judged_by) == (Verdict.INCONSISTENT, "20 to 5")
    assert found.reason.startswith("20 to 5 is a change of 24 900 %, between ")


def test_a_change_is_told_to_two_digits() -> None:
    found = follows_from_cells(
        parse_printed("-12%", "%"), parse_printed("5.00", "M"), parse_printed("5.72", "M"), [HALF_UP]
    )
    assert found.reason.startswith("5.72 to 5.00 is a change of -12.59 %, between -12.75 and -12.42 ")


def test_cells_with_a_rule_of_their_own_leave_the_change_its_own() -> None:
    """From [10, 11) to [5, 6) is -54.5 to -40 %; rounded half up, from [9.5, 10.5) to [4.5, 5.5), -57.1 to -42.1 %."""
    cut, both = Rounding.TRUNCATION, [HALF_UP, Rounding.TRUNCATION]
    cells = parse_printed("5"), parse_printed("10")
    for change, own, verdict, under in (
        ("-40.4%", [cut], Verdict.REPRODUCED, ()),
        ("-40.4%", both, Verdict.REPRODUCED_UNDER, ("rounding truncation of the two numbers",)),
        ("-56%", both, Verdict.REPRODUCED, ()),
        ("-56%", [cut], Verdict.INCONSISTENT, ()),
        ("-40.4%", [], Verdict.INCONSISTENT, ()),
    ):
        found = follows_from_cells(parse_printed(change, "%"), *cells, [HALF_UP], own)
        assert (found.verdict, found.under, found.rounding) == (verdict, under, HALF_UP), (change, own)
