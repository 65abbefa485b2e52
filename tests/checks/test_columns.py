from pathlib import Path

import pytest

from imlp_audit.records.check import Verdict
from tests.checks.papers import Count, Counts, SomeCheck, Spec, checked

COUNTS = {"host": Count(5_720_000, macs=1_260_000_000), "big": Count(22_050_000, macs=4_600_000_000)}
RIGHT = "{id: a, label: A, model: {timm: host}, printed: {params: 5.72, flops: 1.26}}"
SWAPPED = "{id: a, label: A, model: {timm: host}, printed: {params: 1.26, flops: 5.72}}"
ALIKE = "{id: a, label: A, model: {timm: host}, printed: {params: 5.72M, flops: 5.72}}"
WRONG = "{id: a, label: A, model: {timm: host}, printed: {params: 5.73, flops: 1.27}}"
BIG = "{id: b, label: B, model: {timm: big}, printed: {params: 22.05, flops: 4.60}}"
STRANGER = "{id: c, label: C, printed: {params: 1.26, flops: 5.72}}"


def columns(root: Path, *rows: str, counts: Counts = COUNTS, about: str = "") -> SomeCheck:
    return checked(root, counts, Spec(rows, about=about))["p/columns/1"]


@pytest.mark.parametrize(
    ("rows", "verdict", "measured"),
    [
        ((RIGHT, BIG), Verdict.REPRODUCED, None),
        ((WRONG, BIG), Verdict.REPRODUCED, None),
        ((STRANGER, BIG), Verdict.REPRODUCED, None),
        ((ALIKE, BIG), Verdict.REPRODUCED, None),
        ((SWAPPED, BIG), Verdict.INCONSISTENT, "a: 1.26 under params is flops; a: 5.72 under flops is params"),
    ],
)
def test_columns(tmp_path: Path, rows: tuple[str, ...], verdict: Verdict, measured: str | None) -> None:
    check = columns(tmp_path, *rows)
    assert (check.verdict, check.measured) == (verdict, measured)
    assert check.printed == "Parameters (M), FLOPs (G)"


@pytest.mark.parametrize(
    ("about", "verdict"), [("flops: [fvcore]", Verdict.REPRODUCED), ("flops: [fvcore, macs]", Verdict.INCONSISTENT)]
)
def test_an_undeclared_convention_does_not_show_a_misplaced_cell(tmp_path: Path, about: str, verdict: Verdict) -> None:
    counts = {"host": Count(5_720_000, macs=1_260_000_000, norms=10**9), "big": COUNTS["big"]}
    assert columns(tmp_path, SWAPPED, BIG, counts=counts, about=about).verdict is verdict


def test_uncounted_work_shows_no_stray(tmp_path: Path) -> None:
    counts = {"host": Count(5_720_000, macs=1_260_000_000, unknown=("fft",)), "big": COUNTS["big"]}
    checks = checked(tmp_path, counts, Spec((SWAPPED, BIG)))
    assert checks["p/columns/1"].verdict is Verdict.UNVERIFIABLE
    assert checks["p/1/a/params"].verdict is Verdict.DIFFERS
    assert not any("column" in hint for hint in checks["p/1/a/params"].hint_texts)


def test_a_table_whose_models_print_nothing_counted_cannot_be_judged(tmp_path: Path) -> None:
    row = "{id: a, label: A, model: {timm: host}, printed: {top1: 70.0}}"
    assert columns(tmp_path, row).verdict is Verdict.UNVERIFIABLE


def test_a_swapped_cell_has_a_hint(tmp_path: Path) -> None:
    checks = checked(tmp_path, COUNTS, Spec((SWAPPED, BIG)))
    check = checks["p/1/a/params"]
    assert check.verdict is Verdict.DIFFERS
    assert check.hint_texts == ("1.26 fits the column 'FLOPs (G)' instead, where 1 260 000 000 is measured",)
    assert checks["p/1/b/params"].hint_texts == ()


@pytest.mark.parametrize(
    ("printed", "verdict", "reason"),
    [
        ("params: 5.72, flops: 1.26", Verdict.REPRODUCED, ""),
        ("params: 1.26, flops: 5.72", Verdict.DIFFERS, "1.26 belongs to 'flops', so its change is not one of 'params'"),
        ("params: 1.27, flops: 5.72", Verdict.REPRODUCED, ""),  # no column has it: what differs is the cell alone
    ],
)
def test_the_change_of_a_number_in_a_wrong_column_is_no_change_of_its_own(
    tmp_path: Path, printed: str, verdict: Verdict, reason: str
) -> None:
    row = f"{{id: c, label: C, model: {{timm: host}}, baseline: b, printed: {{{printed}}}, delta: {{params: -74.1%}}}}"
    check = checked(tmp_path, COUNTS, Spec((row, BIG)))["p/1/c/params.delta.measured"]
    assert (check.verdict, check.under) == (verdict, ())
    assert reason in check.reason


@pytest.mark.parametrize(
    ("text", "hints"),
    [
        ("5720", ("5720 fits with unit k, where 5 720 000 is measured",)),
        ("5720000", ("5720000 fits with no unit, where 5 720 000 is measured",)),
        ("5720M", ("5720M fits with unit k, where 5 720 000 is measured",)),
        ("5.72B", ("5.72B fits with unit M, where 5 720 000 is measured",)),
        ("5.72k", ("5.72k fits with unit M, where 5 720 000 is measured",)),
        ("5721", ()),
    ],
)
def test_a_number_that_is_right_in_another_unit_has_a_hint(tmp_path: Path, text: str, hints: tuple[str, ...]) -> None:
    row = f"{{id: a, label: A, model: {{timm: host}}, printed: {{params: {text}, flops: 1.26}}}}"
    check = checked(tmp_path, COUNTS, Spec((row, BIG)))["p/1/a/params"]
    assert (check.verdict, check.hint_texts) == (Verdict.DIFFERS, hints)


@pytest.mark.parametrize(
    "rows", [(STRANGER,), ("{id: a, label: A, printed: {top1: 70.0}}",)], ids=["no recipe", "no counted cell"]
)
def test_a_table_without_models_has_no_such_check(tmp_path: Path, rows: tuple[str, ...]) -> None:
    assert "p/columns/1" not in checked(tmp_path, COUNTS, Spec(rows))
