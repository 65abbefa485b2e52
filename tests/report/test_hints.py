"""What the hints of a finding's checks have in common: the smallest change that most of them name, and its price."""

import pytest

from imlp_audit.records.check import Check, CheckKind, OptionHint, Verdict
from imlp_audit.report.findings import choose_hints
from tests.report.results import check


def hint(lost: int = 0, **options: str) -> OptionHint:
    """Return a hint at options that the spec does not declare."""
    return OptionHint(value="7", missing=tuple(options), lost=lost, **options)


CUT, MACS = hint(rounding="truncation"), hint(convention="macs")


def hinted(table: str, *hints: OptionHint) -> Check:
    return check(f"{table}/a/flops", CheckKind.CELL, Verdict.DIFFERS, hints=hints)


def test_what_most_are_hinted_is_said_once() -> None:
    checks = [hinted("1", MACS), hinted("1", CUT), hinted("1", CUT)]
    assert choose_hints(checks[0], checks) == (f"hint: 2 of these 3 {CUT.way}", f"hint: {MACS}")
    assert choose_hints(checks[1], checks) == (f"hint: 2 of these 3 {CUT.way}",)
    assert choose_hints(checks[0], checks[:1]) == (f"hint: {MACS}",)


@pytest.mark.parametrize(
    ("hints", "loss"),
    [
        ([("1", 2), ("1", 2), ("1", 2)], "; 2 that follow now would not"),  # once for a column
        ([("1", 1), ("2", 1), ("1", 1)], "; 2 that follow now would not"),
        ([("1", 1), ("2", 0), ("2", 0)], "; 1 that follows now would not"),
        ([("1", 0), ("2", 0), ("3", 0)], ""),
    ],
)
def test_a_convention_is_hinted_with_what_each_column_would_lose(hints: list[tuple[str, int]], loss: str) -> None:
    checks = [hinted(table, hint(lost, convention="macs")) for table, lost in hints]
    assert choose_hints(checks[0], checks) == (f"hint: 3 of these 3 {MACS.way}{loss}",)


def test_what_gains_more_than_it_loses_is_hinted_first() -> None:
    dear, cheap = hint(2, convention="macs"), hint(convention="fvcore")
    checks = [hinted("1", dear), hinted("1", dear, cheap), hinted("1", dear, cheap)]
    assert choose_hints(checks[1], checks)[0] == f"hint: 2 of these 3 {cheap.way}"
