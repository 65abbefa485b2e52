"""Printed changes, in a cell of their own or beside a number."""

from __future__ import annotations

import pytest

from tests.transcribe.test_draft import table


@pytest.mark.parametrize("heading", ["Change (%)", "Δ in percent", "Reduction [%]"])
def test_a_change_below_a_heading_in_percent_is_in_percent(heading: str) -> None:
    draft = table(f"Model | Params (M) | {heading}", "ResNet-50 | 25.6 | -", "+ X | 6.7 | -74", "+ Y | 26.1 | +2.0%")
    assert [row.numbers.changes for row in draft.rows] == [{}, {"params": "-74%"}, {"params": "+2.0%"}]


def test_a_change_without_a_percent_sign_says_how_to_add_it() -> None:
    rows = table("Model | Params (M) | Δ", "ResNet-50 | 25.6 | -", "+ X | 6.7 (-73) | -74").rows
    assert rows[1].numbers.changes == {}
    for change, said in zip(("-73", "-74"), rows[1].numbers.left_out, strict=True):
        assert f"the change {change} is not in percent (if it is, add `delta: {{...: {change}%}}`)" in said


@pytest.mark.parametrize(("change", "kind"), [("+0.3", "in points"), ("+0.3%", "in points or not")])
def test_a_change_of_a_score_is_left_to_a_person(change: str, kind: str) -> None:
    """An accuracy of 80.0 that grows by 0.3 points grows by 0.375 %, and both are printed as +0.3%."""
    for heading, line in (("Δ", f"80.3 ({change}) |"), ("Δ", f"80.3 | {change}"), ("Δ (%)", f"80.3 | {change}")):
        (_, row) = table(f"Model | Top-1 (%) | {heading}", "DeiT-S | 80.0 |", f"+ X | {line}").rows
        assert row.numbers.changes == {}
        assert f"the change {change} is {kind}, and a spec holds changes in percent" in row.numbers.left_out[0]
