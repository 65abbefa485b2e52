"""Sentences about counted numbers are judged on what the models have, too; and in a charitable meaning if they fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from imlp_audit.errors import SpecError
from imlp_audit.records.check import Verdict
from tests.checks.papers import Count, Spec, checked, write

YES, NO, OPEN, UNDER = Verdict.REPRODUCED, Verdict.DIFFERS, Verdict.UNVERIFIABLE, Verdict.REPRODUCED_UNDER
G = 10**9
# The second model has 88 G where 84 are printed.
COUNTS = {"small": Count(48 * 10**6, macs=100 * G), "large": Count(44 * 10**6, macs=88 * G)}
ROWS = (
    "{id: a, label: A, model: {timm: small}, printed: {params: 48.0, flops: 100.00, top1: 70.0}}",
    "{id: b, label: B, baseline: a, model: {timm: large}, printed: {params: 44.0, flops: 84.00, top1: 71.0}}",
    "{id: c, label: C, baseline: a, printed: {params: 44.0, flops: 84.00}}",
)


def claims(root: Path, body: str, *rows: str, about: str = "flops: [macs]", **counts: Count) -> dict[str, Any]:
    end = f'claims:\n  - {{id: it, text: as the text says, source: {{section: "1"}}, {body}}}\n'
    return checked(root, {**COUNTS, **counts}, Spec(rows or ROWS, about=about, end=end))


@pytest.mark.parametrize(
    ("condition", "printed", "measured"),
    [
        ("difference: flops, below: -15G", YES, NO),  # as printed 16, as counted 12
        ("difference: flops, equals: -16G", YES, NO),
        ("difference: flops, equals: -12G", Verdict.INCONSISTENT, YES),
        ("change: flops, below: -11%", YES, YES),
        ("ratio: params, above: 0.9", YES, YES),
        ("difference: params, below: -3M", YES, YES),
        ("difference: params, below: -4M", OPEN, NO),  # exactly 4
    ],
)
def test_a_claim_about_counted_columns_is_judged_twice(
    tmp_path: Path, condition: str, printed: Verdict, measured: Verdict
) -> None:
    found = claims(tmp_path, f"rows: [p/1/b], conditions: [{{{condition}}}]")
    assert (found["p/claims/it"].verdict, found["p/claims/it.measured"].verdict) == (printed, measured)


def test_only_its_counted_columns_are_measured(tmp_path: Path) -> None:
    both = "rows: [p/1/b], conditions: [{difference: params, below: 0}, {difference: top1, below: 0}]"
    found = claims(tmp_path, both)
    assert found["p/claims/it"].verdict is Verdict.INCONSISTENT
    assert found["p/claims/it.measured"].verdict is YES
    alone = "its other conditions are judged on printed numbers alone"
    assert (alone in found["p/claims/it"].reason, alone in found["p/claims/it.measured"].reason) == (False, True)
    counted = "rows: [p/1/b], conditions: [{difference: params, below: 0}, {difference: flops, below: 0}]"
    assert not any(alone in check.reason for check in claims(tmp_path / "counted", counted).values())


@pytest.mark.parametrize(
    "body",
    [
        "rows: [p/1/b], conditions: [{difference: top1, above: 0}]",
        "rows: [p/1/c], conditions: [{difference: flops, below: 0}]",  # a row without a model
        "rows: [p/1/b], conditions: [{mlp_share: flops, above: 1%}]",  # measured to begin with
    ],
)
def test_a_claim_that_nothing_counts_has_no_second_check(tmp_path: Path, body: str) -> None:
    assert "p/claims/it.measured" not in claims(tmp_path, body, large=Count(44 * 10**6, macs=88 * G, mlp_macs=G))


@pytest.mark.parametrize("reading", [None, "skip"])
@pytest.mark.parametrize(
    ("plain", "skip", "verdict"),
    [(47.6, 47.7, UNDER), (48.3, 48.4, NO), (47.6, 48.4, OPEN), (48.4, 47.6, OPEN)],  # millions; 48.0 in the row before
)
def test_an_order_on_which_open_readings_disagree_is_open(
    tmp_path: Path, plain: float, skip: float, verdict: Verdict, reading: str | None
) -> None:
    """The printed 48 follows from both readings of the second row's block."""
    rows = (
        ROWS[0],
        "{id: b, label: B, model: {timm: large, mlp: {imlp: {kernel: 3}}}, printed: {params: 48}}",
    )
    counts = {"large+3": Count(round(plain * 10**6)), "large+3@skip": Count(round(skip * 10**6))}
    body = "rows: [p/1/a, p/1/b], order: {value: params, direction: decreasing}"
    end = f'claims:\n  - {{id: it, text: as the text says, source: {{section: "1"}}, {body}}}\n'
    found = checked(tmp_path, {**COUNTS, **counts}, Spec(rows, about="flops: [macs]", end=end), reading=reading)
    check = found["p/claims/it.measured"]
    assert check.verdict is verdict
    assert bool(check.under) is (verdict is UNDER)
    assert ("options that the numbers leave open disagree" in check.reason) is (verdict is OPEN)


@pytest.mark.parametrize("declared", ["narrow, wide", "wide, narrow"])
@pytest.mark.parametrize(
    ("macs", "norms", "verdict"),  # in G; the printed 11 follows from both
    [(10.9, 0.2, OPEN), (10.6, 0.2, Verdict.DIFFERS), (11.1, 0.2, UNDER)],
)
def test_a_claim_on_which_open_conventions_disagree_is_open(
    tmp_path: Path, declared: str, macs: float, norms: float, verdict: Verdict
) -> None:
    weights = "{narrow: {linear: 1}, wide: {linear: 1, layer_norm: 1}}"
    row = "{id: a, label: A, model: {timm: small}, printed: {flops: 11}}"
    count = Count(1, macs=round(macs * G), norms=round(norms * G))
    about = f"flops: [{declared}]\n  conventions: {weights}"
    body = "rows: [p/1/a], conditions: [{value: flops, above: 11}]"
    assert claims(tmp_path, body, row, about=about, small=count)["p/claims/it.measured"].verdict is verdict


def test_work_that_no_formula_counts_leaves_it_open(tmp_path: Path) -> None:
    unknown = Count(44 * 10**6, macs=88 * G, unknown=("aten::fft", "aten::sort"))
    check = claims(tmp_path, "rows: [p/1/b], conditions: [{difference: flops, below: 0}]", large=unknown)[
        "p/claims/it.measured"
    ]
    told = "p/1/b/flops: no formula counts aten::fft, aten::sort, so the measured value leaves out work"
    assert (check.verdict, told in check.reason) == (OPEN, True)


def test_a_row_without_a_model_leaves_it_open(tmp_path: Path) -> None:
    check = claims(tmp_path, "rows: [p/1/b, p/1/c], conditions: [{difference: flops, below: 0}]")[
        "p/claims/it.measured"
    ]
    assert (check.verdict, "p/1/c/flops: the spec gives no model" in check.reason) == (OPEN, True)


@pytest.mark.parametrize(
    "body",
    [
        "rows: [p/1/b], conditions: [{difference: flops, below: 0}]",
        "rows: [p/1/a, p/1/b], order: {value: flops, direction: decreasing}",
    ],
)
def test_where_two_counters_meet_nothing_is_compared(tmp_path: Path, body: str) -> None:
    other = ROWS[1].replace("printed:", "counted_by: {flops: {convention: fvcore, because: its source}}, printed:")
    check = claims(tmp_path, body, ROWS[0], other)["p/claims/it.measured"]
    assert (check.verdict, "counted by different conventions" in check.reason) == (OPEN, True)


@pytest.mark.parametrize(("direction", "verdict"), [("decreasing", YES), ("increasing", NO)])
def test_an_order_of_counted_numbers(tmp_path: Path, direction: str, verdict: Verdict) -> None:
    found = claims(tmp_path, f"rows: [p/1/a, p/1/b], order: {{value: flops, direction: {direction}}}")
    assert found["p/claims/it.measured"].verdict is verdict


def block(name: str, printed: int) -> str:
    model = f"{{timm: {name}, mlp: {{imlp: {{kernel: 3}}}}}}"
    return f"{{id: {name}, label: B, baseline: a, model: {model}, printed: {{params: {printed}.0}}}}"


def test_a_claim_is_judged_under_the_reading_that_the_cells_support(tmp_path: Path) -> None:
    """Four of five blocks follow with the skip alone; the fifth, too, is then counted with it: 45 M and not 43."""
    counts = {f"{n}+3": Count(10**6 * (30 + i)) for i, n in enumerate("vwxyz")}
    counts |= {f"{n}+3@skip": Count(10**6 * (33 + 3 * i)) for i, n in enumerate("vwxyz")}
    rows = (ROWS[0], *(block(n, 33 + 3 * i) for i, n in enumerate("vwxy")), block("z", 34))
    body = "rows: [p/1/z], conditions: [{value: params, above: 40M}]"
    end = f'claims:\n  - {{id: it, text: t, source: {{section: "1"}}, {body}}}\n'
    check = checked(tmp_path, {**COUNTS, **counts}, Spec(rows, end=end))["p/claims/it.measured"]
    assert (check.verdict, check.under, check.measured) == (UNDER, ("reading skip",), "z: value of params 45")


STRICT = "rows: [p/1/b], conditions: [{difference: top1, above: 2}]"
KIND = "charitable: {meaning: any gain, rows: [p/1/b], conditions: [{difference: top1, above: 0}]}"


def test_a_charitable_meaning_is_named(tmp_path: Path) -> None:
    check = claims(tmp_path, f"{STRICT}, meaning: much, {KIND}")["p/claims/it"]
    assert (check.verdict, check.under, check.statement) == (UNDER, ("the meaning “any gain”",), "much")
    assert "taken strictly: b: difference of top1 (1 ± 0.1) above 2 does not hold" in check.reason


def test_a_charitable_meaning_is_not_needed_where_the_strict_one_holds(tmp_path: Path) -> None:
    check = claims(tmp_path, f"{STRICT.replace('above: 2', 'above: 0.5')}, {KIND}")["p/claims/it"]
    assert (check.verdict, check.under) == (YES, ())


def test_what_is_false_in_every_meaning_stays_false(tmp_path: Path) -> None:
    check = claims(tmp_path, f"{STRICT}, {KIND.replace('above: 0', 'above: 1.5')}")["p/claims/it"]
    assert (check.verdict, check.under) == (Verdict.INCONSISTENT, ())


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ("covers: ['p/1/[ab]']", "the sentence covers p/1/a, but no claim with its text is about that row"),
        ("covers: ['p/1/b']", None),
        ("covers: ['p/1/[ab]'], left_out: [{rows: [p/1/a], because: it is the baseline}]", None),
        ("left_out: [{rows: [p/1/b], because: it is small}]", "the claim is about p/1/b, which it says it leaves out"),
        ("left_out: [{rows: ['p/1/*'], because: why}]", "the claim is about p/1/b, which it says it leaves out"),
        ("covers: ['p/1/x*']", "no row 'p/1/x*'"),
        (
            "charitable: {rows: [p/1/b], conditions: [{difference: top1, above: 0}]}",
            "say what the charitable meaning is",
        ),
        (KIND.replace("p/1/b", "p/1/q"), "no row 'p/1/q'"),
    ],
)
def test_a_quantified_sentence_says_which_rows_it_leaves_out(tmp_path: Path, more: str, problem: str | None) -> None:
    end = f'claims:\n  - {{id: it, text: all, source: {{section: "1"}}, {STRICT}, {more}}}\n'
    if problem is None:
        write(tmp_path, Spec(ROWS, end=end))
        return
    with pytest.raises(SpecError) as caught:
        write(tmp_path, Spec(ROWS, end=end))
    assert any(problem in one.message for one in caught.value.problems)


@pytest.mark.parametrize("other", ["a sentence before it", "z comes last"])
def test_a_claim_with_another_text_covers_no_row_of_this_one(tmp_path: Path, other: str) -> None:
    one = f'{{id: it, text: mine, source: {{section: "1"}}, {STRICT}, covers: ["p/1/[ab]"]}}'
    two = (
        f'{{id: its, text: {other}, source: {{section: "1"}}, rows: [p/1/a], conditions: [{{value: top1, above: 0}}]}}'
    )
    end = f"claims:\n  - {one}\n  - {two}\n"
    with pytest.raises(SpecError, match="the sentence covers p/1/a, but no claim with its text is about that row"):
        write(tmp_path, Spec(ROWS, end=end))
    assert write(tmp_path / "same", Spec(ROWS, end=end.replace(other, "mine"))).papers


def test_rows_that_are_left_out_are_shown(tmp_path: Path) -> None:
    check = claims(tmp_path, f"{STRICT}, left_out: [{{rows: ['p/1/[!b]*'], because: so it says}}]")["p/claims/it"]
    assert check.reason.endswith("; not judged for a, c: so it says")
