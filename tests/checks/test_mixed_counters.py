"""A column that mixes two counters on purpose, and one that the text explains: nothing is mixed unsaid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from imlp_audit.records.check import Verdict
from tests.checks.papers import Count, Spec, checked

SIZES = (11, 14, 17, 23, 29, 31, 37, 41)
"""Multiply-accumulates in G. The norms have a fortieth of as many elements, which fvcore counts four times each."""


def judged(root: Path, by_fvcore: int, printed_by: str = "flops: [macs, fvcore]") -> list[Any]:
    """Check a column whose last rows print what fvcore counts, a tenth more, and the others what macs counts."""
    counts = {f"m{n}": Count(n * 10**6, macs=n * 10**9, norms=n * 25 * 10**6) for n in SIZES}
    printed = [n * (1.1 if place >= len(SIZES) - by_fvcore else 1) for place, n in enumerate(SIZES)]
    rows = tuple(
        f"{{id: r{n}, label: R, model: {{timm: m{n}}}, printed: {{params: {n}, flops: {number:.2f}}}}}"
        for n, number in zip(SIZES, printed, strict=True)
    )
    checks = checked(root, counts, Spec(rows, about=printed_by))
    assert all(checks[f"p/1/r{n}/params"].verdict is Verdict.REPRODUCED for n in SIZES)
    assert checks["p/columns/1"].verdict is Verdict.REPRODUCED
    return [checks[f"p/1/r{n}/flops"] for n in SIZES]


@pytest.mark.parametrize("by_fvcore", [3, 4, 5])
def test_where_two_counters_made_a_column_neither_accuses_the_other(tmp_path: Path, by_fvcore: int) -> None:
    checks = judged(tmp_path, by_fvcore)
    last = len(SIZES) - by_fvcore
    assert {(check.verdict, check.mixed, check.weak) for check in checks} == {(Verdict.REPRODUCED_UNDER, True, False)}
    assert {check.under for check in checks[:last]} == {("convention macs",)}
    assert {check.under for check in checks[last:]} == {("convention fvcore",)}


def test_two_numbers_by_another_counter_are_too_few_for_a_second_and_too_many_for_one(tmp_path: Path) -> None:
    checks = judged(tmp_path, 2)
    assert [check.verdict for check in checks] == [Verdict.REPRODUCED] * 6 + [Verdict.REPRODUCED_UNDER] * 2
    assert all(check.weak and not check.mixed for check in checks)


def test_one_number_by_another_counter_differs_and_that_counter_is_a_hint(tmp_path: Path) -> None:
    *passing, differing = judged(tmp_path, 1)
    assert {(check.verdict, check.weak) for check in passing} == {(Verdict.REPRODUCED, False)}
    assert differing.verdict is Verdict.DIFFERS
    hint = "convention fvcore; 7 of 8 numbers follow under macs, 1 under fvcore"
    assert any(hint in one for one in differing.hint_texts)


@pytest.mark.parametrize(("declared", "other"), [("macs", "fvcore"), ("fvcore", "macs")])
def test_where_only_one_counter_is_declared_the_other_is_a_hint_that_the_spec_does_not_have(
    tmp_path: Path, declared: str, other: str
) -> None:
    checks = judged(tmp_path, 4, f"flops: [{declared}]")
    passing, differing = (checks[:4], checks[4:]) if declared == "macs" else (checks[4:], checks[:4])
    assert {check.verdict for check in passing} == {Verdict.REPRODUCED}
    assert {check.verdict for check in differing} == {Verdict.DIFFERS}
    for check in differing:
        hint = (
            f"under convention {other}, which the spec does not declare; 4 of the column's numbers that follow now "
            "would not"
        )
        assert any(hint in one for one in check.hint_texts)


@pytest.mark.parametrize(
    ("by_fvcore", "lost"),
    [(7, "1 of the column's numbers that follows now"), (6, "2 of the column's numbers that follow now")],
)
def test_the_price_of_a_hint_is_counted(tmp_path: Path, by_fvcore: int, lost: str) -> None:
    check = judged(tmp_path, by_fvcore, "flops: [macs]")[-1]
    assert any(hint.endswith(f"; {lost} would not") for hint in check.hint_texts)


@pytest.mark.parametrize("declared", ["flops: [macs]", "flops: [macs, fvcore]"])
def test_what_the_text_explains_is_plainly_reproduced(tmp_path: Path, declared: str) -> None:
    for check in judged(tmp_path, 0, declared):
        assert (check.verdict, check.under, check.hint_texts, check.weak) == (Verdict.REPRODUCED, (), (), False)
