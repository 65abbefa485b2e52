import operator
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.checks.quantities import all_of, judge_order, judge_relation, judge_share, middle
from imlp_audit.numbers.interval import Interval
from imlp_audit.records.check import RowTruth, Truth, Verdict
from imlp_audit.spec.claim_entries import Relation
from tests.strategies import intervals, members

RELATIONS: dict[str, Callable[[Fraction, Fraction], bool]] = {
    Relation.ABOVE: operator.gt,
    Relation.AT_LEAST: operator.ge,
    Relation.BELOW: operator.lt,
    Relation.AT_MOST: operator.le,
}
VERDICTS = {
    Truth.YES: Verdict.REPRODUCED,
    Truth.NO: Verdict.INCONSISTENT,
    Truth.OPEN: Verdict.UNVERIFIABLE,
}
truths = st.sampled_from(Truth)


def of_all(outcomes: Iterable[bool]) -> Truth:
    """Return what holds in all, in no, or in only some of the cases."""
    seen = set(outcomes)
    return Truth.OPEN if len(seen) == 2 else Truth.YES if seen == {True} else Truth.NO


@pytest.mark.parametrize("relation", RELATIONS)
@given(value=intervals(), bound=intervals())
def test_a_relation_is_judged_over_all_members(relation: Relation, value: Interval, bound: Interval) -> None:
    holds = RELATIONS[relation]
    cases = (holds(x, y) for x, y in product(members(value), members(bound)))
    assert judge_relation(value, relation, bound) is of_all(cases)


@given(intervals(), intervals())
def test_numbers_are_equal_where_they_can_be(value: Interval, bound: Interval) -> None:
    shared = set(members(value)) & set(members(bound))
    assert judge_relation(value, Relation.EQUALS, bound) is (Truth.YES if shared else Truth.NO)


def settled(found: list[Truth]) -> Iterable[tuple[bool, ...]]:
    """Yield every way that what is open could turn out."""
    ways = {Truth.YES: (True,), Truth.NO: (False,), Truth.OPEN: (True, False)}
    return product(*(ways[truth] for truth in found))


@given(st.lists(truths, min_size=1, max_size=5))
def test_all_hold_in_every_way_the_open_ones_turn_out(found: list[Truth]) -> None:
    assert all_of(found) is of_all(all(way) for way in settled(found))


@given(st.lists(truths, min_size=1, max_size=6), st.integers(1, 100))
def test_a_share_of_rows_holds_in_every_way_the_open_ones_turn_out(found: list[Truth], percent: int) -> None:
    rows = [RowTruth(row=f"r{i}", truth=truth, because="x", values="1") for i, truth in enumerate(found)]
    expected = of_all(100 * sum(way) >= percent * len(way) for way in settled(found))
    assert judge_share(rows, f"at least {percent}%")[0] is VERDICTS[expected]


def test_a_share_names_the_rows_against_it() -> None:
    rows = [
        RowTruth(row="a", truth=Truth.YES, because="1 > 0", values="1"),
        RowTruth(row="b", truth=Truth.NO, because="0 > 0", values="1"),
        RowTruth(row="c", truth=Truth.OPEN, because="? > 0", values="1"),
    ]
    verdict, reason = judge_share(rows, "at least 50%")
    assert verdict is Verdict.UNVERIFIABLE
    assert reason == "it holds in 1 of 3 rows and cannot be decided in 1; b: 0 > 0; c: ? > 0"


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ([Truth.NO], "r0: x"),  # one row's own words are enough
        ([Truth.OPEN], "r0: x"),
        ([Truth.NO] * 2, "it holds in 0 of 2 rows; r0: x; r1: x"),
        ([Truth.YES, Truth.NO], "it holds in 1 of 2 rows; r1: x"),
        ([Truth.YES] * 2, "it holds in 2 of 2 rows; r0: x"),
        ([Truth.YES, Truth.OPEN], "it holds in 1 of 2 rows and cannot be decided in 1; r1: x"),
        ([Truth.OPEN] * 2, "it holds in 0 of 2 rows and cannot be decided in 2; r0: x; r1: x"),
    ],
)
def test_a_share_counts_its_rows_in_words_that_fit_any_number(found: list[Truth], said: str) -> None:
    rows = [RowTruth(row=f"r{i}", truth=truth, because="x", values="1") for i, truth in enumerate(found)]
    assert judge_share(rows, "all")[1] == said


def number(low: Fraction | float, high: Fraction | float) -> Interval:
    return Interval(Fraction(low), Fraction(high), True, False)


@pytest.mark.parametrize("increasing", [True, False])
@given(one=intervals(), other=intervals())
def test_an_order_of_two_is_judged_over_all_members(increasing: bool, one: Interval, other: Interval) -> None:
    before = operator.lt if increasing else operator.gt
    cases = (before(x, y) for x, y in product(members(one), members(other)))
    assert judge_order([("a", one), ("b", other)], increasing=increasing)[0] is VERDICTS[of_all(cases)]


@pytest.mark.parametrize("increasing", [True, False])
@given(values=st.lists(intervals(0, 1), min_size=3, max_size=3))
def test_an_order_of_more_is_never_wrong(increasing: bool, values: list[Interval]) -> None:
    before = operator.lt if increasing else operator.gt
    cases = {all(before(x, y) for x, y in pairwise(way)) for way in product(*map(members, values))}
    verdict, _ = judge_order([(str(i), value) for i, value in enumerate(values)], increasing=increasing)
    assert (verdict is Verdict.REPRODUCED) == (cases == {True})
    assert verdict is not Verdict.INCONSISTENT or cases == {False}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Interval.point(3), "3"),
        (number(1, 2), "1.5 ± 0.5"),
        (Interval(Fraction(-1), Fraction(1), False, False), "0 ± 1"),
    ],
)
def test_a_range_is_written_by_its_middle(value: Interval, text: str) -> None:
    assert middle(value) == text


def test_where_no_row_holds_as_a_whole_its_comparisons_are_counted() -> None:
    """Two rows of six comparisons each, as in ResMLP's Table 5: four and five of them hold."""
    rows = [
        RowTruth(row=f"r{i}", truth=Truth.NO, because="x", values="1", met=met, conditions=6)
        for i, met in enumerate((4, 5))
    ]
    assert judge_share(rows, "all")[1] == "9 of its 12 comparisons hold, in no row all of them; r0: x; r1: x"
