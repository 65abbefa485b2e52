from pathlib import Path

import pytest

from imlp_audit.records.check import Verdict
from tests.checks.papers import Count, Spec, checked

BASE = "{id: base, label: Base, printed: {params: 5.72, top1: 72.2}}"
ONE = "{id: a, label: A, baseline: base, printed: {params: 5.00, top1: 72.6}, delta: {params: -12.6%}}"


def again(params: str = "5.00", top1: str = "72.6", delta: str = "-12.6%", repeats: str = "p/1/a") -> str:
    return (
        f"{{id: a, label: A, baseline: base, repeats: {repeats},"
        f" printed: {{params: {params}, top1: {top1}}}, delta: {{params: {delta}}}}}"
    )


@pytest.mark.parametrize(
    ("row", "different"),
    [
        (again(), set()),
        (again(params="5.0"), set()),  # one value can print as 5.00 and 5.0
        (again(params="5.01"), {"params"}),
        (again(top1="72.5"), {"top1"}),
        (again(delta="-12.5%"), {"params.delta"}),
        (again(delta="-13%"), set()),
        (again("5.72", "72.2", "12.6%"), {"params", "top1", "params.delta"}),
    ],
)
def test_a_row_that_repeats_another(tmp_path: Path, row: str, different: set[str]) -> None:
    checks = checked(tmp_path, {}, Spec((BASE, ONE), more_rows=(BASE, row)))
    names = ("params", "top1", "params.delta")
    assert {one for one in checks if "/repeats/" in one} == {f"p/repeats/2/a/{name}" for name in names}
    for name in names:
        check = checks[f"p/repeats/2/a/{name}"]
        assert check.verdict is (Verdict.INCONSISTENT if name in different else Verdict.REPRODUCED)
        assert check.reason.startswith(f"p/1/a/{name} prints ")


def test_a_table_that_repeats_another_papers(tmp_path: Path) -> None:
    first = Spec((BASE, ONE))
    rows = ("{id: base, label: Base, printed: {params: 5.72, top1: 72.3}}",
            "{id: b, label: B, repeats: p/1/a, printed: {params: 5.01}}")  # fmt: skip
    checks = checked(tmp_path, {}, first, Spec(rows, table="repeats: p/1", id="q"))
    assert {one: check.verdict for one, check in checks.items() if "/repeats/" in one} == {
        "q/repeats/1/base/params": Verdict.REPRODUCED,
        "q/repeats/1/base/top1": Verdict.DIFFERS,
        "q/repeats/1/b/params": Verdict.DIFFERS,
    }


def test_a_repeated_number_is_right_or_wrong_apart_from_its_model(tmp_path: Path) -> None:
    row = "{id: a, label: A, model: {timm: host}, printed: {params: 5.00}}"
    twin = "{id: b, label: B, repeats: p/1/a, model: {timm: host}, printed: {params: 5.00}}"
    checks = checked(tmp_path, {"host": Count(6_000_000)}, Spec((row, twin)))
    assert checks["p/1/b/params"].verdict is Verdict.DIFFERS
    assert checks["p/repeats/1/b/params"].verdict is Verdict.REPRODUCED


@pytest.mark.parametrize(
    ("about", "verdict"),
    [
        ("rounding: [half_up]", Verdict.INCONSISTENT),
        ("rounding: [half_up, truncation]", Verdict.REPRODUCED_UNDER),  # 5.07 can be cut to both
        ("rounding: [truncation]", Verdict.REPRODUCED),
        ("rounding: [half_up, ceiling]", Verdict.INCONSISTENT),
    ],
)
def test_a_declared_rounding_rule_excuses_a_repeated_number(tmp_path: Path, about: str, verdict: Verdict) -> None:
    rows = ("{id: a, label: A, printed: {params: 5.0}}", "{id: b, label: B, repeats: p/1/a, printed: {params: 5.07}}")
    check = checked(tmp_path, {}, Spec(rows, about=about))["p/repeats/1/b/params"]
    assert check.verdict is verdict
    assert check.under == (("rounding truncation",) if verdict is Verdict.REPRODUCED_UNDER else ())
    assert check.measured == "5.0"
