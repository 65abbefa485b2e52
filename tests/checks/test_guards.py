"""Which numbers could be changed without any check noticing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.checks.guards import shift_text
from imlp_audit.numbers.parsing import parse_printed
from imlp_audit.pipeline import Options, audit
from imlp_audit.records.base import from_json, to_json
from imlp_audit.records.check import CellCheck
from imlp_audit.records.result import AuditResult
from tests.checks.papers import Spec, write

BASE = "{id: base, label: Base, printed: {params: 5.72, top1: 72.2}}"
CLAIM = """\
claims:
  - id: rises
    text: it rises
    source: {section: "1"}
    rows: [p/1/base, p/1/more]
    order: {value: top1, direction: increasing}
"""


def found(tmp_path: Path, *specs: Spec, only: tuple[str, ...] = ()) -> AuditResult:
    return audit(write(tmp_path, *specs), Options(only=only), lambda total: lambda name: None)


def marks(result: AuditResult) -> dict[str, bool]:
    return {check.id: check.unguarded for check in result.of_kind(CellCheck) if check.unguarded is not None}


def test_a_number_without_a_second_mention_is_unguarded(tmp_path: Path) -> None:
    result = found(tmp_path, Spec((BASE,)))
    assert marks(result) == {"p/1/base/top1": True}  # a size is counted, or needs a model
    assert result.unguarded() == (1, 1)


@pytest.mark.parametrize(
    ("rows", "end", "unguarded"),
    [
        # a printed change: 72.2 to 72.6 is 0.55 %
        (("{id: more, label: More, baseline: base, printed: {top1: 72.6}, delta: {top1: +0.6%}}",), "", set()),
        # but one in whole percent leaves the finer number free: 0.8 to 1.1 % print alike
        (("{id: more, label: More, baseline: base, printed: {top1: 72.90}, delta: {top1: +1%}}",), "", {"more"}),
        # an order is a guard as far as it reaches: ten last digits are 1.0 points
        (("{id: more, label: More, printed: {top1: 73.1}}",), CLAIM, set()),
        (("{id: more, label: More, printed: {top1: 73.4}}",), CLAIM, {"base", "more"}),
        (("{id: more, label: More, repeats: p/1/base, printed: {top1: 72.2}}",), "", set()),
    ],
)
def test_a_guard_is_a_check_that_would_fail(
    tmp_path: Path, rows: tuple[str, ...], end: str, unguarded: set[str]
) -> None:
    result = found(tmp_path, Spec((BASE, *rows), end=end))
    assert {name.split("/")[2] for name, alone in marks(result).items() if alone} == unguarded


@pytest.mark.parametrize(
    ("printed", "bound", "unguarded"),
    [
        ("0.5", "at_least: 0.45", False),  # 0.4 is too little; ten last digits less would have another sign
        ("-0.5", "at_most: -0.45", False),
        ("0.5", "at_least: 0.35", True),
        ("-0.5", "at_most: -0.35", True),
    ],
)
def test_a_small_number_is_tried_a_last_digit_away(tmp_path: Path, printed: str, bound: str, unguarded: bool) -> None:
    claim = f'{{id: it, text: it, source: {{section: "1"}}, rows: [p/1/a], conditions: [{{value: top1, {bound}}}]}}'
    spec = Spec((f"{{id: a, label: A, printed: {{top1: {printed}}}}}",), end=f"claims:\n  - {claim}\n")
    assert marks(found(tmp_path, spec)) == {"p/1/a/top1": unguarded}


def test_a_finding_guards_the_numbers_that_it_was_acknowledged_for(tmp_path: Path) -> None:
    """Printed again as 73.5, it differs either way, but by another number."""
    again = "{id: more, label: More, repeats: p/1/base, printed: {top1: 73.5}}"
    assert set(marks(found(tmp_path, Spec((BASE, again)))).values()) == {False}


def test_a_guard_need_not_be_selected(tmp_path: Path) -> None:
    again = "{id: more, label: More, repeats: p/1/base, printed: {top1: 72.2}}"
    result = found(tmp_path, Spec((BASE, again)), only=("p/1/base/*",))
    assert marks(result) == {"p/1/base/top1": False}


def test_the_share_is_in_the_result(tmp_path: Path) -> None:
    rows = (
        "{id: more, label: More, repeats: p/1/base, printed: {top1: 72.2}}",
        "{id: b, label: B, printed: {top1: 1.0}}",
    )
    result = found(tmp_path, Spec((BASE, *rows)))
    assert result.body()["unguarded"] == {"numbers": 1, "of": 3, "percent": "33.3"}
    assert from_json(AuditResult, to_json(result), "r.json") == result


@given(st.integers(1, 99_999), st.integers(0, 3), st.sampled_from(["", "%", "k"]), st.integers(-10, 10))
def test_a_shifted_number_is_so_many_digits_away_and_written_alike(
    number: int, places: int, unit: str, digits: int
) -> None:
    text = f"{number // 10**places}.{number % 10**places:0{places}d}" if places else str(number)
    printed = parse_printed(text + unit, unit)
    shifted = shift_text(printed, digits)
    if printed.value + digits * printed.step <= 0:
        assert shifted is None
        return
    assert shifted is not None
    other = parse_printed(shifted, unit)
    assert other.value - printed.value == digits * printed.step
    assert (other.step, other.scale) == (printed.step, printed.scale)
    assert shifted.endswith(unit)


@pytest.mark.parametrize(
    ("text", "unit", "digits", "expected"),
    [
        ("-12.6%", "%", 1, "-12.5%"),
        ("−0.1", "", 1, None),
        ("0.1", "", -1, None),
        ("0.1", "", -2, None),
        ("0.0", "", 1, "0.1"),
        ("0.0", "", -1, None),
        ("+0.8", "", 10, "+1.8"),
        ("0.10k", "k", -1, "0.09k"),
    ],
)
def test_signs_and_units_stay(text: str, unit: str, digits: int, expected: str | None) -> None:
    assert shift_text(parse_printed(text, unit), digits) == expected
