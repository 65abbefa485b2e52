"""What the hints of a finding's checks have in common: the smallest change that most of them name, and its price."""

import pytest

from imlp_audit.count.conventions import FLOPS_CONVENTIONS, MemoryConvention, ParameterConvention
from imlp_audit.records.check import Check, CheckKind, OptionHint, Verdict
from imlp_audit.report.findings import _KEYS, choose_hints
from tests.report.results import check

BOUNDS = ("1350000000", "1450000000")  # of 1.4 G, rounded half up


def hint(value: int = 7, declared: str = "", lost: int = 0, **options: str) -> OptionHint:
    """Return a hint at options that the spec does not declare, except for one kind of them."""
    missing = tuple(kind for kind in options if kind != declared)
    return OptionHint(value=str(value), missing=missing, lost=lost, **options)


CUT, MACS = hint(rounding="truncation"), hint(convention="macs")
BOTH = hint(convention="macs", rounding="truncation")


def failing(*hints: OptionHint) -> list[Check]:
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
    assert shared(failing(CUT), *others) == f"hint: 3 of these 3 {CUT.way}{loss}"


def test_what_gains_more_than_it_loses_is_hinted_first() -> None:
    checks = [*failing(CUT)[:1], *failing(CUT, hint(8, convention="macs"))[1:]]
    assert shared(checks) == f"hint: 3 of these 3 {CUT.way}"
    assert shared(checks, LOST, LOST) == f"hint: 2 of these 3 {MACS.way}"


def losing(table: str, lost: int, way: OptionHint = MACS) -> Check:
    hints = (way.model_copy(update={"lost": lost}),)
    return check(f"{table}/a/flops", CheckKind.CELL, Verdict.DIFFERS, hints=hints)


@pytest.mark.parametrize(
    ("hinted", "loss"),
    [
        ([losing("1", 2), losing("1", 2)], "; 2 that follow now would not"),  # once for a column
        ([losing("1", 2), losing("2", 1)], "; 3 that follow now would not"),
        ([losing("1", 1), losing("2", 0)], "; 1 that follows now would not"),
        ([losing("1", 0), losing("2", 0)], ""),
    ],
)
def test_a_convention_is_hinted_with_what_each_column_would_lose(hinted: list[Check], loss: str) -> None:
    assert shared(hinted, LOST) == f"hint: 2 of these 2 {MACS.way}{loss}"


@pytest.mark.parametrize(
    ("way", "convention", "about"),
    [
        (MACS, "fvcore", "{flops: [macs]}"),
        (CUT, "all", "{rounding: [truncation]}"),
        (hint(convention="no_head", rounding="double"), "all", "{parameters: [no_head], rounding: [double]}"),
        (hint(declared="convention", convention="no_head", rounding="double"), "all", "{rounding: [double]}"),
        (hint(convention="no_head"), "fvcore", "{flops: [no_head]}"),
        (hint(convention="all"), "no_head", "{parameters: [all]}"),
        (hint(convention="mb"), "mib", "{memory: [mb]}"),
    ],
)
def test_what_many_are_hinted_says_where_a_spec_declares_it(way: OptionHint, convention: str, about: str) -> None:
    checks = [one.model_copy(update={"convention": convention}) for one in failing(way)]
    (text,) = choose_hints(checks[0], checks)
    assert text == f"hint: 3 of these 3 {way.way}; if that is the paper's, declare it: `about: {about}`"


def test_every_convention_has_the_key_that_declares_it() -> None:
    assert {name for name, key in _KEYS.items() if key == "memory"} == set(MemoryConvention)
    assert {name for name, key in _KEYS.items() if key == "parameters"} == set(ParameterConvention) - set(
        FLOPS_CONVENTIONS
    )
    assert not set(_KEYS) & set(FLOPS_CONVENTIONS)
