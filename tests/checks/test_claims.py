from pathlib import Path

import pytest

from imlp_audit.records.check import Verdict
from tests.checks.papers import Count, Counts, SomeCheck, Spec, checked

YES, NO, OPEN = Verdict.REPRODUCED, Verdict.INCONSISTENT, Verdict.UNVERIFIABLE
ROWS = (
    "{id: a, label: A, model: {timm: small}, printed: {params: 10.0, flops: 4.00, top1: 70.0}}",
    "{id: b, label: B, model: {timm: large}, baseline: a, printed: {params: 8.0, flops: 3.00, top1: 71.0}}",
    "{id: c, label: C, baseline: a, printed: {params: 9.0, flops: 2.00, top1: 71.5}}",
    "{id: d, label: D, baseline: a, printed: {params: 10.0, flops: 4.00, top1: 70.0}}",
)
# The MLPs have 60 % and 75 % of the parameters, 50 % and 40 % of the products.
COUNTS = {
    "small": Count(10_000_000, macs=4 * 10**9, mlp_params=6_000_000, mlp_macs=2 * 10**9),
    "large": Count(8_000_000, macs=3 * 10**9, mlp_params=6_000_000, mlp_macs=12 * 10**8),
}


def claim(root: Path, body: str, counts: Counts = COUNTS, about: str = "flops: [macs]") -> SomeCheck:
    end = f'claims:\n  - {{id: it, text: as the text says, source: {{section: "1"}}, {body}}}\n'
    other = ("{id: e, label: E, printed: {params: 1.00}}",)
    return checked(root, counts, Spec(ROWS, other, about=about, end=end))["p/claims/it"]


def conditions(rows: str, *each: str, holds_for: str = "all") -> str:
    listed = ", ".join(f"{{{one}}}" for one in each)
    return f"rows: [{rows}], conditions: [{listed}], holds_for: {holds_for}"


@pytest.mark.parametrize(
    ("condition", "verdict"),
    [
        # a prints 70.0: [69.95, 70.05)
        ("value: top1, above: 69.94", YES),
        ("value: top1, above: 69.95", OPEN),
        ("value: top1, above: 70.05", NO),
        ("value: top1, below: 70.05", YES),
        ("value: top1, at_most: 69.95", OPEN),
        ("value: top1, equals: 70.0", YES),
        ("value: top1, equals: 71", NO),
        ("value: params, above: 9.9M", YES),
        ("value: flops, below: 5G", YES),
    ],
)
def test_conditions_on_a_value(tmp_path: Path, condition: str, verdict: Verdict) -> None:
    check = claim(tmp_path, conditions("p/1/a", condition))
    assert (check.verdict, check.weak, check.under) == (verdict, False, ())


@pytest.mark.parametrize(
    ("condition", "verdict"),
    [
        # b against a: 7.95/10.05 - 1 = -20.9 % to 8.05/9.95 - 1 = -19.1 %
        ("change: params, equals: -20%", YES),
        ("change: params, equals: -18%", NO),
        ("change: params, below: -19%", YES),
        ("change: params, above: -21%", YES),
        ("difference: params, equals: -2M", YES),
        ("difference: params, below: -2M", OPEN),
        ("difference: top1, above: 0.89", YES),
        ("difference: top1, above: 0.9", YES),  # both ends of the difference of two half-open numbers are open
        ("difference: top1, above: 0.91", OPEN),
        ("mlp_share: params, equals: 75.00%", YES),
        ("mlp_share: flops, equals: 40.00%", YES),
    ],
)
def test_a_change_difference_or_share(tmp_path: Path, condition: str, verdict: Verdict) -> None:
    assert claim(tmp_path, conditions("p/1/b", condition)).verdict is verdict


@pytest.mark.parametrize(
    ("condition", "verdict"),
    [
        # b's params to a's: 7.95/10.05 = 0.791 to 8.05/9.95 = 0.809
        ("ratio: params, equals: 0.8", YES),
        ("ratio: params, equals: 0.82", NO),
        ("ratio: params, below: 0.80", OPEN),
        ("ratio: params, against: p/1/c, below: 1", YES),  # 7.95/9.05 to 8.05/8.95
        ("ratio: params, against: p/2/e, at_least: 7.9", YES),  # 7.95/1.005 to 8.05/0.995: another table
        ("ratio: params, against: p/2/e, at_least: 8", OPEN),
        ("ratio: params, against: p/1/b, at_least: 1", OPEN),  # a number of which only the digits are known
        ("change: params, against: p/2/e, above: 690%", YES),
        ("change: params, against: p/2/e, above: 700%", OPEN),
        ("difference: top1, against: p/1/c, equals: -0.5", YES),
        ("difference: params, against: p/2/e, above: 7.1M", NO),
    ],
)
def test_a_ratio_or_difference_is_from_the_baseline_or_from_the_row_named(
    tmp_path: Path, condition: str, verdict: Verdict
) -> None:
    assert claim(tmp_path, conditions("p/1/b", condition)).verdict is verdict


@pytest.mark.parametrize(
    ("row", "condition", "verdict"),
    [
        # b's 3.00 between 4.00 and 2.00: 49.5 % of the way from 3.995 to 1.995, to 50.5 % from 4.005 to 2.005
        ("p/1/b", "position: flops, between: [p/1/a, p/1/c], equals: 50%", YES),
        ("p/1/b", "position: flops, between: [p/1/a, p/1/c], above: 49.6", OPEN),
        ("p/1/b", "position: flops, between: [p/1/a, p/1/c], below: 49", NO),
        ("p/1/a", "position: flops, between: [p/1/b, p/1/c], equals: -100%", YES),  # past the start
        ("p/1/b", "position: top1, between: [p/1/a, p/1/c], equals: 67%", YES),
        ("p/1/b", "position: top1, between: [p/1/c, p/1/a], equals: 33%", YES),
        ("p/1/b", "position: params, between: [p/2/e, p/1/a], equals: 78%", YES),  # 7 of 9
        ("p/1/b", "position: params, between: [p/1/a, p/1/d], equals: 50%", OPEN),  # both print 10.0
    ],
)
def test_a_position_is_a_share_of_the_way_between_two_rows(
    tmp_path: Path, row: str, condition: str, verdict: Verdict
) -> None:
    assert claim(tmp_path, conditions(row, condition)).verdict is verdict


@pytest.mark.parametrize(
    ("condition", "measured"),
    [
        ("ratio: params", "ratio of params 0.8 ± 0.009"),
        ("position: params, between: [p/1/a, p/1/c]", "position of params 202.02 ± 20.202"),
        ("difference: params, against: p/1/c", "difference of params -1 ± 0.1"),
        ("change: params, against: p/1/c", "change of params -11.105 ± 1.049"),
        ("value: params", "value of params 8 ± 0.05"),
    ],
)
def test_values_are_written_in_the_unit_they_are_printed_in(tmp_path: Path, condition: str, measured: str) -> None:
    check = claim(tmp_path, conditions("p/1/b", f"{condition}, above: 1000"))
    assert (check.verdict, check.measured) == (NO, f"b: {measured}")


def test_a_row_of_another_paper_is_read_by_its_own_rules(tmp_path: Path) -> None:
    """5.0 half-up is [4.95, 5.05), 5.0 cut is [5.0, 5.1): the difference is below 0.05."""
    quoted = "rows: [p/1/a], conditions: [{difference: params, against: q/1/a, at_most: 0.05}]"
    end = f'claims:\n  - {{id: it, text: no more, source: {{section: "1"}}, {quoted}}}\n'
    row = "{id: a, label: A, printed: {params: 5.0}}"
    for rounding, verdict in (("truncation", YES), ("half_up", OPEN)):
        other = Spec((row,), about=f"rounding: [{rounding}]", id="q")
        assert checked(tmp_path / rounding, {}, Spec((row,), end=end), other)["p/claims/it"].verdict is verdict


@pytest.mark.parametrize(
    ("rows", "condition", "verdict"),
    [
        ("p/1/b, p/1/c", "step: top1, above: 0.39", YES),
        ("p/1/b, p/1/c", "step: top1, above: 0.5", OPEN),
        ("p/1/b, p/1/c", "step: top1, equals: 0.5", YES),
        ("p/1/a, p/1/b, p/1/c", "step: top1, above: 0.6", NO),  # b to c is 0.4 to 0.6
        ("p/1/a, p/1/b, p/1/c", "step: flops, equals: -1.00", YES),
        ("p/1/c, p/1/b", "step: flops, equals: -1.00", NO),
    ],
)
def test_a_step_is_from_the_row_before(tmp_path: Path, rows: str, condition: str, verdict: Verdict) -> None:
    assert claim(tmp_path, conditions(rows, condition)).verdict is verdict


@pytest.mark.parametrize(
    ("holds_for", "verdict"),
    [("all", NO), ("at least 67%", NO), ("at least 66%", YES), ("at least 1%", YES)],
)
def test_a_claim_about_some_rows(tmp_path: Path, holds_for: str, verdict: Verdict) -> None:
    # true of b and c, while d's difference is within 0.1 of nothing
    body = conditions("p/1/b, p/1/c, p/1/d", "difference: top1, above: 0.5", holds_for=holds_for)
    check = claim(tmp_path, body)
    assert check.verdict is verdict
    assert check.reason.startswith("it holds in 2 of 3 rows; ")


@pytest.mark.parametrize(
    ("holds_for", "verdict"),
    [("all", OPEN), ("at least 67%", OPEN), ("at least 66%", YES)],
)
def test_an_open_row_leaves_a_claim_open_where_it_decides(tmp_path: Path, holds_for: str, verdict: Verdict) -> None:
    body = conditions("p/1/b, p/1/c, p/1/d", "difference: top1, above: 0", holds_for=holds_for)
    assert claim(tmp_path, body).verdict is verdict


@pytest.mark.parametrize(
    ("each", "verdict"),
    [
        (("difference: params, below: 0", "difference: top1, above: 0"), YES),
        (("difference: params, below: 0", "difference: top1, above: 1"), OPEN),
        (("difference: params, below: 0", "difference: top1, above: 2"), NO),
        (("difference: params, above: 0", "difference: top1, above: 1"), NO),
    ],
)
def test_all_conditions_must_hold(tmp_path: Path, each: tuple[str, ...], verdict: Verdict) -> None:
    assert claim(tmp_path, conditions("p/1/b", *each)).verdict is verdict


def test_a_glob_is_all_its_rows(tmp_path: Path) -> None:
    check = claim(tmp_path, conditions('"p/1/*"', "value: flops, above: 2.5"))
    assert check.verdict is NO
    assert check.reason.startswith("it holds in 3 of 4 rows; c: value of flops (2 ± 0.005)")


@pytest.mark.parametrize(
    ("rows", "order", "verdict"),
    [
        ("p/1/a, p/1/b, p/1/c", "value: top1, direction: increasing", YES),
        ("p/1/a, p/1/b, p/1/c", "value: top1, direction: decreasing", NO),
        ("p/1/a, p/1/b, p/1/c", "value: flops, direction: decreasing", YES),
        ("p/1/a, p/1/d", "value: top1, direction: increasing", OPEN),
        ("p/1/c, p/1/b", "change: params, direction: decreasing", YES),
        ("p/1/a, p/1/b, p/1/c", "step: top1, direction: decreasing", YES),  # +1.0, then +0.5
        ("p/1/a, p/1/b, p/1/c", "step: flops, direction: decreasing", OPEN),  # -1 and -1
        ("p/1/a, p/1/b", "mlp_share: params, direction: increasing", YES),
        ("p/1/b, p/1/c", "ratio: params, direction: increasing", YES),
        ("p/1/a, p/1/b, p/1/c", "position: flops, between: [p/1/a, p/1/c], direction: increasing", YES),
        ("p/1/b, p/1/c", "position: flops, between: [p/1/a, p/1/d], direction: increasing", OPEN),
    ],
)
def test_an_order(tmp_path: Path, rows: str, order: str, verdict: Verdict) -> None:
    assert claim(tmp_path, f"rows: [{rows}], order: {{{order}}}").verdict is verdict


def test_equal_shares_are_not_in_order(tmp_path: Path) -> None:
    # counted shares are exact, so an equal pair breaks a strict order rather than leaving it open
    counts = {"small": COUNTS["small"], "large": COUNTS["small"]}
    order = "rows: [p/1/a, p/1/b], order: {mlp_share: params, direction: increasing}"
    assert claim(tmp_path, order, counts).verdict is NO


@pytest.mark.parametrize(
    ("table", "holds", "verdict", "measured"),
    [
        ("1", "p/1/a/params, p/1/b/top1", YES, "p/1"),
        ("2", "p/2/e/params", YES, "p/2"),
        ("2", "p/1/a/params", NO, "p/1"),
        ("1", "p/1/a/params, p/2/e/params", NO, "p/1 and p/2"),
        ("3.2", "p/1/a/params", NO, "p/1"),  # a table that is not there
    ],
)
def test_a_reference(tmp_path: Path, table: str, holds: str, verdict: Verdict, measured: str) -> None:
    check = claim(tmp_path, f'reference: {{table: "{table}", holds: [{holds}]}}')
    assert (check.verdict, check.measured) == (verdict, measured)
    if table == "3.2":
        assert check.reason.endswith("; there is no table 3.2")


@pytest.mark.parametrize(
    ("about", "verdict"), [("flops: [macs]", YES), ("flops: [fvcore]", NO), ("flops: [fvcore, macs]", OPEN)]
)
def test_a_share_of_work_holds_if_it_does_under_all_that_is_open(tmp_path: Path, about: str, verdict: Verdict) -> None:
    counts = {**COUNTS, "large": Count(8_000_000, macs=3 * 10**9, mlp_macs=12 * 10**8, norms=10**8)}
    body = conditions("p/1/b", "mlp_share: flops, at_least: 40%")  # 12/30, or 12/35
    assert claim(tmp_path, body, counts, about).verdict is verdict


def test_a_share_of_work_is_by_the_counter_of_its_column(tmp_path: Path) -> None:
    """Of five numbers all follow by multiply-accumulates, and none by fvcore's weights, which are declared first."""
    counts = {name: Count(10**6, macs=10**9 * (3 + place), norms=10**8) for place, name in enumerate("abcde")}
    counts["a"] = Count(10**6, macs=3 * 10**9, mlp_macs=12 * 10**8, norms=10**8)
    rows = tuple(
        f"{{id: {n}, label: A, model: {{timm: {n}}}, printed: {{flops: {3 + i}.00}}}}" for i, n in enumerate("abcde")
    )
    body = conditions("p/1/a", "mlp_share: flops, at_least: 40%")
    end = f'claims:\n  - {{id: it, text: t, source: {{section: "1"}}, {body}}}\n'
    check = checked(tmp_path, counts, Spec(rows, about="flops: [fvcore, macs]", end=end))["p/claims/it"]
    assert (check.verdict, check.under) == (Verdict.REPRODUCED_UNDER, ("convention macs",))


def test_a_share_of_parameters_is_by_what_is_declared(tmp_path: Path) -> None:
    counts = {**COUNTS, "large": Count(8_000_000, head=2_000_000, mlp_params=3_000_000)}
    body = conditions("p/1/b", "mlp_share: params, equals: 50%")
    assert claim(tmp_path / "a", body, counts, "parameters: [no_head]").verdict is YES
    assert claim(tmp_path / "b", body, counts, "parameters: [all]").verdict is NO
    assert claim(tmp_path / "c", body, counts, "parameters: [all, no_head]").verdict is OPEN


def test_a_share_of_the_parameters_without_the_head_needs_one(tmp_path: Path) -> None:
    counts = {**COUNTS, "large": Count(8_000_000, head=None, mlp_params=4_000_000)}
    body = conditions("p/1/b", "mlp_share: params, equals: 50%")
    assert claim(tmp_path / "a", body, counts, "parameters: [all, no_head]").verdict is YES
    check = claim(tmp_path / "b", body, counts, "parameters: [no_head, all]")
    assert (check.verdict, check.reason) == (Verdict.ERROR, "large has no head for no_head")


@pytest.mark.parametrize(("counted_by", "verdict"), [("macs", YES), ("fvcore", NO)])
def test_a_share_of_work_is_by_the_convention_that_counted_the_row(
    tmp_path: Path, counted_by: str, verdict: Verdict
) -> None:
    by = f"{{flops: {{convention: {counted_by}, because: the text}}}}"
    row = f"{{id: b, label: B, model: {{timm: large}}, counted_by: {by}, printed: {{flops: 3.00}}}}"
    counts = {"large": Count(8_000_000, macs=3 * 10**9, mlp_macs=12 * 10**8, norms=10**8)}
    body = conditions("p/1/b", "mlp_share: flops, at_least: 40%")  # 12/30, or 12/34
    end = f'claims:\n  - {{id: it, text: t, source: {{section: "1"}}, {body}}}\n'
    for about in ("flops: [fvcore]", "flops: [macs]"):
        spec = Spec((row,), about=about, end=end)
        assert checked(tmp_path / about[-6:-1], counts, spec)["p/claims/it"].verdict is verdict


def test_a_share_of_a_model_that_failed_is_an_error_and_other_quantities_need_no_model(tmp_path: Path) -> None:
    shares = conditions("p/1/b", "mlp_share: params, above: 1%")
    check = claim(tmp_path / "a", shares, {"small": COUNTS["small"]})
    assert (check.verdict, check.reason) == (Verdict.ERROR, "no model large")
    assert claim(tmp_path / "b", conditions("p/1/b", "value: params, above: 1"), {}).verdict is YES


@pytest.mark.parametrize(
    ("rounding", "bound", "verdict"),
    [
        ("half_up", "72", YES),  # "71.5" is [71.45, 71.55), "72" is [71.5, 72.5)
        ("half_up", "71", YES),  # [70.5, 71.5)
        ("half_up", "70", NO),
        ("truncation", "71", YES),  # "71.5" is [71.5, 71.6), "71" is [71, 72)
        ("truncation", "72", NO),
        ("ceiling", "72", YES),  # "71.5" is (71.4, 71.5], "72" is (71, 72]
        ("ceiling", "71", NO),
    ],
)
def test_numbers_are_equal_by_the_papers_rounding(tmp_path: Path, rounding: str, bound: str, verdict: Verdict) -> None:
    body = conditions("p/1/c", f"value: top1, equals: {bound}")
    assert claim(tmp_path, body, about=f"rounding: [{rounding}]").verdict is verdict


def test_a_claim_that_is_false_in_a_stated_meaning_differs(tmp_path: Path) -> None:
    false = conditions("p/1/a", "value: top1, above: 80")
    assert claim(tmp_path / "a", false).verdict is Verdict.INCONSISTENT
    assert claim(tmp_path / "b", f"meaning: as we read it, {false}").verdict is Verdict.DIFFERS
    true = conditions("p/1/a", "value: top1, below: 80")
    assert claim(tmp_path / "c", f"meaning: as we read it, {true}").verdict is Verdict.REPRODUCED


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (Count(8_000_000, macs=3 * 10**9, unknown=("fft",)), "not all work of large is counted by macs"),
        (Count(8_000_000, macs=0), "not all work of large is counted by macs"),
        (Count(8_000_000, macs=3 * 10**9, mlps=()), "large has no MLP of a known kind to take a share of"),
    ],
)
def test_a_share_of_what_is_not_known_is_an_error(tmp_path: Path, count: Count, told: str) -> None:
    check = claim(tmp_path, conditions("p/1/b", "mlp_share: flops, above: 1%"), {**COUNTS, "large": count})
    assert (check.verdict, check.reason) == (Verdict.ERROR, told)


def test_what_is_undefined_leaves_a_claim_open(tmp_path: Path) -> None:
    # a change from 0.0 has no percentage: neither a condition nor an order over it can be said to hold
    rows = (
        "{id: zero, label: Zero, printed: {top1: 0.0}}",
        "{id: a, label: A, baseline: zero, printed: {top1: 1.0}}",
        "{id: b, label: B, baseline: zero, printed: {top1: 2.0}}",
    )
    each = {
        "condition": "rows: [p/1/a], conditions: [{change: top1, above: 0%}]",
        "order": "rows: [p/1/a, p/1/b], order: {change: top1, direction: increasing}",
    }
    end = "claims:\n" + "".join(
        f'  - {{id: {name}, text: the text, source: {{section: "1"}}, {body}}}\n' for name, body in each.items()
    )
    checks = checked(tmp_path, {}, Spec(rows, end=end))
    assert {checks[f"p/claims/{name}"].verdict for name in each} == {OPEN}
