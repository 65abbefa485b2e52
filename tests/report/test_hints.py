"""What the hints of a finding's checks have in common: the smallest change that most of them name, and its price."""

import pytest

from imlp_audit.count.conventions import FLOPS_CONVENTIONS, MemoryConvention, ParameterConvention
from imlp_audit.records.check import Check, CheckKind, Verdict
from imlp_audit.report.hints import _KEYS, choose_hints
from tests.report.results import check

CUT = "would fit under rounding truncation, which the spec does not declare"
BOUNDS = ("1350000000", "1450000000")  # of 1.4 G, rounded half up


def failing(*hints: str) -> list[Check]:
    return [check(f"1/r{n}/params", CheckKind.CELL, Verdict.DIFFERS, hints=hints) for n in range(3)]


def passing(printed: str, measured: str, paper: str = "p") -> Check:
    found = check(
        "1/a/flops", CheckKind.CELL, Verdict.REPRODUCED,
        printed=printed, measured=measured, interval=BOUNDS, rounding="half_up", unit="G",
    )  # fmt: skip
    return found.model_copy(update={"id": f"{paper}/1/a/flops"})


def shared(hints: list[Check], *others: Check) -> str:
    """Return the hint of all checks, without where a spec declares it."""
    return choose_hints(hints[0], hints, (*hints, *others))[0].partition("; if that is the paper's")[0]


LOST, LOST_COMMA, KEPT = passing("1.4", "1360000000"), passing("1,4", "1360000000"), passing("1.4", "1420000000")
OTHER_PAPER = passing("1.4", "1360000000", "q")


@pytest.mark.parametrize(
    ("others", "loss"),
    [
        ((LOST, KEPT), "; 1 that follows now would not"),
        ((LOST, LOST_COMMA, KEPT, OTHER_PAPER), "; 2 that follow now would not"),
        ((KEPT, OTHER_PAPER), ""),
    ],
)
def test_a_rounding_rule_is_hinted_with_how_many_numbers_it_would_lose(others: tuple[Check, ...], loss: str) -> None:
    """1.36 G prints as 1.4 rounded half up and as 1.3 cut off; 1.42 G prints as 1.4 by both."""
    assert shared(failing(f"7 {CUT}"), *others) == f"hint: 3 of these 3 {CUT}{loss}"


def test_what_gains_more_than_it_loses_is_hinted_first() -> None:
    other = "would fit under convention macs, which the spec does not declare"
    checks = [*failing(f"7 {CUT}")[:1], *failing(f"7 {CUT}", f"8 {other}")[1:]]
    assert shared(checks) == f"hint: 3 of these 3 {CUT}"
    assert shared(checks, LOST, LOST) == f"hint: 2 of these 3 {other}"


LOSES = "would fit under convention macs, which the spec does not declare"


def losing(table: str, lost: str, way: str = LOSES) -> Check:
    return check(f"{table}/a/flops", CheckKind.CELL, Verdict.DIFFERS, hints=(f"7 {way}{lost}",))


ONE = "; 1 of the column's numbers that follows now would not"
TWO = "; 2 of the column's numbers that follow now would not"


@pytest.mark.parametrize(
    ("hinted", "loss"),
    [
        ([losing("1", TWO), losing("1", TWO)], "; 2 that follow now would not"),  # once for a column
        ([losing("1", TWO), losing("2", ONE)], "; 3 that follow now would not"),
        ([losing("1", ONE), losing("2", "")], "; 1 that follows now would not"),
        ([losing("1", ""), losing("2", "")], ""),
    ],
)
def test_a_convention_is_hinted_with_what_each_column_would_lose(hinted: list[Check], loss: str) -> None:
    assert shared(hinted, LOST) == f"hint: 2 of these 2 {LOSES}{loss}"


def test_with_a_rounding_rule_the_other_columns_lose_what_the_rule_alone_loses() -> None:
    """The passing cell of Table 1 is among the two that its column loses; the one of Table 2 is lost to the rule."""
    both = "would fit under convention macs, rounding truncation, which the spec does not declare"
    elsewhere = LOST.model_copy(update={"id": "p/2/b/flops"})
    assert (
        shared([losing("1", TWO, both)] * 2, LOST, elsewhere)
        == f"hint: 2 of these 2 {both}; 3 that follow now would not"
    )


def test_of_the_hints_that_as_many_share_the_smallest_change_is_shown() -> None:
    two = "would fit under convention no_head, rounding ceiling, which the spec does not declare"
    one = "would fit under convention macs, rounding ceiling; the spec does not declare rounding ceiling"
    none = "would fit under rounding half_up, which it was not judged under"
    for ways, first in (((two,), two), ((two, one), one), ((two, one, none), none)):
        assert shared(failing(*(f"7 {way}" for way in ways))) == f"hint: 3 of these 3 {first}"


BOTH = "would fit under convention no_head, rounding ceiling"


@pytest.mark.parametrize(
    ("way", "convention", "about"),
    [
        (LOSES, "fvcore", "{flops: [macs]}"),
        (CUT, "all", "{rounding: [truncation]}"),
        (f"{BOTH}, which the spec does not declare", "all", "{parameters: [no_head], rounding: [ceiling]}"),
        (f"{BOTH}; the spec does not declare rounding ceiling", "all", "{rounding: [ceiling]}"),
        ("would fit under convention no_head, which the spec does not declare", "fvcore", "{flops: [no_head]}"),
        ("would fit under convention all, which the spec does not declare", "no_head", "{parameters: [all]}"),
        ("would fit under convention mb, which the spec does not declare", "mib", "{memory: [mb]}"),
    ],
)
def test_what_many_are_hinted_says_where_a_spec_declares_it(way: str, convention: str, about: str) -> None:
    checks = [one.model_copy(update={"convention": convention}) for one in failing(f"7 {way}")]
    (hint,) = choose_hints(checks[0], checks)
    assert hint == f"hint: 3 of these 3 {way}; if that is the paper's, declare it: `about: {about}`"


def test_what_is_declared_already_is_declared_nowhere_else() -> None:
    checks = failing("7 would fit under rounding half_up, which it was not judged under")
    assert choose_hints(checks[0], checks)[0].endswith("which it was not judged under")


def test_every_convention_has_the_key_that_declares_it() -> None:
    assert {name for name, key in _KEYS.items() if key == "memory"} == set(MemoryConvention)
    assert {name for name, key in _KEYS.items() if key == "parameters"} == set(ParameterConvention) - set(
        FLOPS_CONVENTIONS
    )
    assert not set(_KEYS) & set(FLOPS_CONVENTIONS)
