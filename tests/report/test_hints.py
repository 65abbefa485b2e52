"""What the hints of a finding's checks have in common: the smallest change that most of them name, and its price."""

import pytest

from imlp_audit.records.check import Check, CheckKind, OptionHint, Verdict
from imlp_audit.report.findings import choose_hints
from tests.report.results import check


def hint(lost: int = 0, **options: str) -> OptionHint:
    """Return a hint at options that the spec does not declare."""
    return OptionHint(value="7", missing=tuple(options), lost=lost, **options)


CUT, MACS = hint(rounding="truncation"), hint(convention="macs")


def hinted(row: str, *hints: OptionHint) -> Check:
    return check(f"1/{row}/flops", CheckKind.CELL, Verdict.DIFFERS, hints=hints)


def test_what_most_are_hinted_is_said_once() -> None:
    checks = [hinted("a", MACS), hinted("b", CUT), hinted("c", CUT)]
    assert choose_hints(checks[0], checks) == (f"hint: 2 of these 3 {CUT.way}", f"hint: {MACS}")
    assert choose_hints(checks[1], checks) == (f"hint: 2 of these 3 {CUT.way}",)
    assert choose_hints(checks[0], checks[:1]) == (f"hint: {MACS}",)


@pytest.mark.parametrize(
    ("lost", "loss"),
    [(2, "; 2 that follow now would not"), (1, "; 1 that follows now would not"), (0, "")],
)
def test_a_convention_is_hinted_with_what_its_column_would_lose(lost: int, loss: str) -> None:
    checks = [hinted(row, hint(lost, convention="macs")) for row in "abc"]
    assert choose_hints(checks[0], checks) == (f"hint: 3 of these 3 {MACS.way}{loss}",)


def test_what_gains_more_than_it_loses_is_hinted_first() -> None:
    dear, cheap = hint(2, convention="macs"), hint(convention="fvcore")
    checks = [hinted("a", dear), hinted("b", dear, cheap), hinted("c", dear, cheap)]
    assert choose_hints(checks[1], checks)[0] == f"hint: 2 of these 3 {cheap.way}"
