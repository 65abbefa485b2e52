"""Corners that a verdict once went wrong in."""

from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.errors import SpecError
from imlp_audit.records.check import Verdict
from imlp_audit.records.finding import LockedCheck

from .papers import Count, Counts, Spec, checked
from .test_claims import claim, conditions
from .test_marks import BASE, FITS, FOOTNOTE, MARKED, MISSES, mark

PASSES = (Verdict.REPRODUCED, Verdict.REPRODUCED_UNDER)


def test_a_repeat_is_by_each_papers_own_rule(tmp_path: Path) -> None:
    """5.0 half-up is [4.95, 5.05), 4.9 cut is [4.9, 5.0)."""
    one = Spec(("{id: a, label: A, printed: {params: 5.0}}",))
    two = Spec(
        ("{id: a, label: A, printed: {params: 4.9}}",), about="rounding: [truncation]", table="repeats: p/1", id="q"
    )
    assert checked(tmp_path, {}, one, two)["q/repeats/1/a/params"].verdict in PASSES


@pytest.mark.parametrize(
    ("about", "five"),
    [
        ("parameters: [all, no_head]", Count(5_100_000, head=100_000)),
        ("rounding: [half_up, truncation]", Count(5_009_000)),
    ],
)
def test_a_mark_names_what_its_kernel_fits_under(tmp_path: Path, about: str, five: Count) -> None:
    counts = {"host": Count(5_720_000), "host+3": Count(6_000_000), "host+5": five}
    check = checked(tmp_path, counts, Spec((BASE, MARKED), table=FOOTNOTE, about=about))["p/marks/1/b"]
    assert check.verdict is Verdict.REPRODUCED_UNDER
    assert check.under


def test_a_mark_over_uncounted_work_is_open(tmp_path: Path) -> None:
    lacking = Count(5_000_000, macs=1_000_000_000, unknown=("fft",))
    check = mark(tmp_path, {"host+3": lacking, "host+5": lacking}, footnote=FOOTNOTE.replace("params", "flops"))
    assert check.verdict is Verdict.UNVERIFIABLE


def test_a_marked_row_without_the_deciding_number_has_no_mark_to_check(tmp_path: Path) -> None:
    row = (
        '{id: b, label: B, baseline: a, mark: "*", model: {timm: host, mlp: {imlp: {kernel: 5}}}, '
        "printed: {flops: 1.10}}"
    )
    base = "{id: a, label: A, model: {timm: host}, printed: {params: 5.72, flops: 2.0}}"
    counts = {"host": FITS, "host+3": FITS, "host+5": FITS}
    assert "p/marks/1/b" not in checked(tmp_path, counts, Spec((base, row), table=FOOTNOTE))


def test_a_footnote_of_an_even_kernel_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="kernel 4 does not fit the model of row 'b': an even kernel"):
        checked(tmp_path, {}, Spec((BASE, MARKED), table=FOOTNOTE.replace("kernel: 5", "kernel: 4")))


@pytest.mark.parametrize(
    ("footnote", "complaint"),
    [
        (FOOTNOTE.replace("{imlp: {kernel: 5}}", "{python: {name: F}}"), "change the same fields of a recipe"),
        (FOOTNOTE.replace("kernel: 5", "kernel: 3"), "are the same change"),
        (FOOTNOTE.replace("imlp:", "python:"), "no row's recipe has the part that the mark changes"),
        (
            FOOTNOTE.replace("kernel:", "kernle:"),
            "row 'b': kernle is not a known key",
        ),
    ],
)
def test_a_footnote_whose_changes_are_equal_is_refused(tmp_path: Path, footnote: str, complaint: str) -> None:
    with pytest.raises(SpecError, match=complaint):
        checked(tmp_path, {}, Spec((BASE, MARKED), table=footnote))


def test_a_mark_may_stand_for_any_change_of_a_recipe(tmp_path: Path) -> None:
    changes = "marked: {image: 384}, otherwise: {image: 224}"
    footnote = f'footnote: {{mark: "*", meaning: larger images, {changes}, decided_by: flops}}'
    row = '{id: b, label: B, mark: "*", model: {timm: host, image: 384}, printed: {flops: 1.10}}'
    counts = {"host:224": MISSES, "host:384": FITS}
    check = checked(tmp_path, counts, Spec((row,), table=footnote))["p/marks/1/b"]
    assert check.verdict is Verdict.REPRODUCED
    assert check.printed == "marked *: image 384"
    assert "image 384 fits" in check.reason


@pytest.mark.parametrize("drifted", [{"host+5": Count(9_000_000)}, {"host+3@skip": FITS}])
def test_a_mark_records_every_number_that_it_rests_on(tmp_path: Path, drifted: Counts) -> None:
    counts = {"host+3": MISSES, "host+5": MISSES}
    one, two = mark(tmp_path / "a", counts), mark(tmp_path / "b", {**counts, **drifted})
    assert LockedCheck.of(one).measured != LockedCheck.of(two).measured


def test_a_step_takes_no_row_from_other_conditions(tmp_path: Path) -> None:
    """The first row's top-1 is 70: it has no step, but is not above 70.5."""
    body = conditions("p/1/a, p/1/b", "step: top1, above: 0", "value: top1, above: 70.5")
    assert claim(tmp_path, body).verdict is Verdict.INCONSISTENT


def test_a_row_named_twice_counts_once(tmp_path: Path) -> None:
    """b holds and d does not: one of two."""
    body = conditions('p/1/b, "p/1/[bd]"', "difference: top1, above: 0.5", holds_for="at least 60%")
    assert claim(tmp_path, body).verdict is Verdict.INCONSISTENT


def test_an_undeclared_convention_that_counts_nothing_does_no_harm(tmp_path: Path) -> None:
    rows = (
        "{id: a, label: A, model: {timm: host}, printed: {flops: 2.00}}",
        "{id: b, label: B, baseline: a, model: {timm: other}, printed: {flops: 1.00}, delta: {flops: -50%}}",
    )
    counts = {"host": Count(1, macs=2 * 10**9), "other": Count(1, macs=10**9)}
    spec = Spec(rows, about="flops: [macs]\n  conventions: {attention: {softmax: 1}}")
    assert checked(tmp_path, counts, spec)["p/1/b/flops.delta.measured"].verdict is Verdict.REPRODUCED
