"""Rounding rules of one measure: a table may cut its parameters off and round its FLOPs."""

from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.records.check import Verdict
from tests.checks.papers import Count, Spec, checked

SIZES = (11, 14, 17, 23, 29)  # of six numbers that end in zeros these would be no digits
COUNTS = {f"m{n}": Count(n * 10**6 + 90_000, macs=n * 10**9 + 90 * 10**6) for n in SIZES}
ROWS = tuple(f"{{id: r{n}, label: R, model: {{timm: m{n}}}, printed: {{params: {n}.0, flops: {n}.1}}}}" for n in SIZES)


@pytest.mark.parametrize(
    ("about", "params", "flops"),
    [
        ("rounding_of: {parameters: [truncation]}", Verdict.REPRODUCED, Verdict.REPRODUCED),
        ("rounding_of: {parameters: [half_up, truncation]}", Verdict.REPRODUCED_UNDER, Verdict.REPRODUCED),
        ("rounding_of: {flops: [half_up]}\n  rounding: [truncation]", Verdict.REPRODUCED, Verdict.REPRODUCED),
        ("rounding: [half_up]", Verdict.DIFFERS, Verdict.REPRODUCED),
        ("rounding: [truncation]", Verdict.REPRODUCED, Verdict.DIFFERS),
        ("rounding_of: {flops: [truncation]}", Verdict.DIFFERS, Verdict.DIFFERS),
    ],
)
def test_a_measures_own_rules_judge_its_numbers_alone(
    tmp_path: Path, about: str, params: Verdict, flops: Verdict
) -> None:
    """11.09 prints as 11.0 cut off and as 11.1 rounded half up."""
    checks = checked(tmp_path, COUNTS, Spec(ROWS, about=f"flops: [macs]\n  {about}"))
    assert {checks[f"p/1/r{n}/params"].verdict for n in SIZES} == {params}
    assert {checks[f"p/1/r{n}/flops"].verdict for n in SIZES} == {flops}
    under = ("rounding truncation",) if params is Verdict.REPRODUCED_UNDER else ()
    assert {checks[f"p/1/r{n}/params"].under for n in SIZES} == {under}


def test_one_rule_for_all_numbers_explains_half_of_them_and_a_rule_for_each_all(tmp_path: Path) -> None:
    """Where a paper has both rules for all its numbers, as many speak for either, and no pass is sure."""
    both = checked(tmp_path, COUNTS, Spec(ROWS, about="flops: [macs]\n  rounding: [half_up, truncation]"))
    assert all(check.weak for name, check in both.items() if name.endswith(("/params", "/flops")))
    own = "flops: [macs]\n  rounding_of: {parameters: [half_up, truncation]}"
    each = checked(tmp_path / "own", COUNTS, Spec(ROWS, about=own))
    assert not any(check.caveats for check in each.values())


def test_a_change_is_rounded_as_the_papers_changes_are(tmp_path: Path) -> None:
    """From 11.09 M to 14.09 M is 27.05 %, which prints as 27.1 rounded half up and as 27.0 cut off."""
    change = "baseline: r11, label: R, model: {timm: m14}, printed: {params: 14.0}, delta: {params: 27.1%}"
    about = "flops: [macs]\n  rounding_of: {parameters: [truncation]}"
    checks = checked(tmp_path, COUNTS, Spec((*ROWS[:1], f"{{id: r14, {change}}}", *ROWS[2:]), about=about))
    assert checks["p/1/r14/params.delta"].verdict is Verdict.REPRODUCED
    assert checks["p/1/r14/params.delta.measured"].verdict is Verdict.REPRODUCED
