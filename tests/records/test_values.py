"""Numbers in results that somebody edited: refused at once, with the place."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from imlp_audit.errors import UsageError
from imlp_audit.records.base import from_json, is_number, to_json
from imlp_audit.records.check import CheckKind, Verdict
from imlp_audit.records.result import AuditResult
from imlp_audit.records.solution import SolvedWeights
from tests.report.results import check, full, head

RESULT = full()
CHECKS = (check("equations/a", CheckKind.EQUATION, Verdict.REPRODUCED), *RESULT.checks)
TEXT = to_json(RESULT.model_copy(update={"checks": CHECKS, "papers": (head(),)}))
CELL = next(at for at, one in enumerate(CHECKS) if getattr(one, "also", ()))
DELTA = next(at for at, one in enumerate(CHECKS) if one.kind is CheckKind.DELTA)


def read(change: Callable[[dict[str, Any]], object]) -> str:
    """Change a result and read it; return the complaint, or nothing."""
    document = json.loads(TEXT)
    change(document)
    try:
        from_json(AuditResult, json.dumps(document), "a.json")
    except UsageError as error:
        return str(error)
    return ""


@given(st.text(max_size=12) | st.from_regex(r"[-+]?[0-9]{1,3}([./e_][-+0-9]{1,2})?", fullmatch=True))
def test_a_number_is_what_is_written_in_plain_digits(text: str) -> None:
    plain = is_number(text)
    assert plain == (
        set(text) <= set("-.0123456789") and _is_finite(text) and text.strip(".-") == text.removeprefix("-")
    )
    if plain:
        assert Fraction(text) == Fraction(Decimal(text))


def _is_finite(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except ArithmeticError:
        return False


@pytest.mark.parametrize(
    "text",
    ["1e40000000", "1/0", "1/3", "NaN", "Infinity", "-inf", "five", "", " 5", "５", "1_0", "+1", ".5", "9" * 5000],
)
@pytest.mark.parametrize(
    ("place", "change"),
    [
        (f"checks.{CELL}.measured", lambda one, text: one.update(measured=text)),
        (f"checks.{CELL}.gap", lambda one, text: one.update(gap=text)),
        (f"checks.{CELL}.interval.1", lambda one, text: one.update(interval=["0", text])),
        (f"checks.{CELL}.also.0.measured", lambda one, text: one["also"][0].update(measured=text)),
    ],
    ids=["measured", "gap", "interval", "also"],
)
def test_a_number_in_other_words_is_refused_with_its_place(
    place: str, change: Callable[[dict[str, Any], str], object], text: str
) -> None:
    told = read(lambda document: change(document["checks"][CELL], text))
    assert told.startswith(f"a.json: {place}: '{text[:40]}")
    assert "is not a number in plain decimal digits, such as -12.6; give a file written by" in told
    assert len(told) < 250


def test_changes_were_measured_as_a_number_or_on_two_printed_ones() -> None:
    def told(text: str) -> str:
        return read(lambda document: document["checks"][DELTA].update(measured=text))

    assert [told("-12.6057"), told("5.72 to 5.00")] == ["", ""]
    assert f"checks.{DELTA}.measured: '1/0' is not a number" in told("1/0")


def test_other_checks_measure_in_words() -> None:
    claim = next(at for at, one in enumerate(CHECKS) if one.kind is CheckKind.CLAIM)
    assert read(lambda document: document["checks"][claim].update(measured="kernel 3: 4 975 528")) == ""


@pytest.mark.parametrize("change", [{"reason": "\ud800"}, {"\ud800": 1}])
def test_a_value_that_cannot_be_shown_is_refused(change: dict[str, object]) -> None:
    assert read(lambda document: document["checks"][0].update(change)).startswith("a.json: not JSON (")


def test_a_number_beyond_floats_is_refused() -> None:
    with pytest.raises(UsageError, match=r"a\.json: versions\.torch: it must be a text, not inf"):
        from_json(AuditResult, TEXT.replace('"2.6"', "1e400"), "a.json")


def test_weights_are_of_classes() -> None:
    with pytest.raises(ValidationError, match="one factor for each class"):
        SolvedWeights(classes=("norm", "pool"), factors=(1,), values=(0,))


def test_keys_cannot_hide_what_they_are() -> None:
    assert "a.json: \\x1b[2J: it is not a known key" in read(lambda document: document.update({"\x1b[2J": 1}))


def test_scores_are_counts_and_decimals() -> None:
    def column(document: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = document["hypotheses"]["p"]["columns"][0]
        return found

    assert "hypotheses.p.columns.0.by_chance: '1/0'" in read(lambda document: column(document).update(by_chance="1/0"))
    assert "columns.0.power.one.caught: " in read(lambda document: column(document)["power"]["one"].update(caught=-1))
