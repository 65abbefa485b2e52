from pathlib import Path
from typing import Any

import pytest

from imlp_audit.records.check import Verdict
from tests.checks.papers import Count, Counts, Spec, checked

BASE = "{id: a, label: A, model: {timm: host}, printed: {params: 5.72, top1: 72.2}}"
COUNTS = {"host": Count(5_717_416), "host+3": Count(4_998_184), "host+3@skip": Count(4_998_184)}


def row(delta: str, params: str = "5.00", model: str = "model: {timm: host, mlp: {imlp: {kernel: 3}}}, ") -> str:
    return f"{{id: b, label: B, baseline: a, {model}printed: {{params: {params}}}, delta: {{params: {delta}}}}}"


def both(root: Path, counts: Counts, *rows: str, about: str = "") -> tuple[Any, Any]:
    checks = checked(root, counts, Spec(rows, about=about))
    return checks["p/1/b/params.delta"], checks["p/1/b/params.delta.measured"]


@pytest.mark.parametrize(
    ("delta", "from_cells", "from_models"),
    [
        ("-12.6%", Verdict.REPRODUCED, Verdict.REPRODUCED),  # 4998184/5717416 - 1 = -12.58 %
        ("-12.5%", Verdict.REPRODUCED, Verdict.DIFFERS),  # -12.42 % to -12.75 % of the cells
        ("-12.9%", Verdict.INCONSISTENT, Verdict.DIFFERS),
        ("12.6%", Verdict.INCONSISTENT, Verdict.DIFFERS),
        ("−13", Verdict.REPRODUCED, Verdict.REPRODUCED),
    ],
)
def test_a_change_against_the_cells_and_the_models(
    tmp_path: Path, delta: str, from_cells: Verdict, from_models: Verdict
) -> None:
    cells, models = both(tmp_path, COUNTS, BASE, row(delta))
    assert (cells.verdict, models.verdict) == (from_cells, from_models)
    assert cells.printed == models.printed == delta
    assert cells.unit == models.unit == "%"
    assert cells.kind == models.kind == "delta"


def test_a_measured_change_is_recorded(tmp_path: Path) -> None:
    counts = {"host": Count(5_000_000), "host+3": Count(4_000_001)}
    _, check = both(tmp_path, counts, BASE, row("-20.0%"))
    assert check.measured == "-19.99998"
    assert check.interval == ("-20.05", "-19.95")
    assert check.gap == "0"


@pytest.mark.parametrize(
    ("delta", "words"),
    [
        ("-12.5", "-20 % is outside (-12.55, -12.45] %: "),
        ("-20.0", "-20 % lies in (-20.05, -19.95] %"),
        ("-12.5%", "-20 is outside (-12.55, -12.45]: "),  # printed with its unit
    ],
)
def test_a_change_that_is_printed_without_a_unit_is_compared_with_it(tmp_path: Path, delta: str, words: str) -> None:
    counts = {"host": Count(5_000_000), "host+3": Count(4_000_000)}
    _, check = both(tmp_path, counts, BASE, row(delta))
    assert check.reason.startswith(words)


def test_a_cell_that_differs_may_have_a_change_that_does_not(tmp_path: Path) -> None:
    counts = {"host": Count(11_440_000), "host+3": Count(10_000_000)}  # twice what is printed
    checks = checked(tmp_path, counts, Spec((BASE, row("-12.6%"))))
    assert checks["p/1/b/params"].verdict is Verdict.DIFFERS
    assert checks["p/1/b/params.delta.measured"].verdict is Verdict.REPRODUCED


@pytest.mark.parametrize(
    ("about", "verdict", "under"),
    [
        ("parameters: [all]", Verdict.DIFFERS, ()),
        ("parameters: [all, no_head]", Verdict.REPRODUCED_UNDER, ("convention no_head",)),
        ("parameters: [no_head]", Verdict.REPRODUCED, ()),
    ],
)
def test_a_change_is_within_one_convention(
    tmp_path: Path, about: str, verdict: Verdict, under: tuple[str, ...]
) -> None:
    # 4 of 5 M without the heads: -20 %; 5 of 6 M with them: -16.7 %; across the two it would be -33 % and 0 %
    counts = {"host": Count(6_000_000, head=1_000_000), "host+3": Count(5_000_000, head=1_000_000)}
    _, check = both(tmp_path / "a", counts, BASE, row("-20.0%"), about=about)
    assert (check.verdict, check.under) == (verdict, under)
    for delta in ("-33.3%", "0.0%"):
        assert both(tmp_path / delta, counts, BASE, row(delta), about=about)[1].verdict is Verdict.DIFFERS


def test_a_change_is_within_one_reading(tmp_path: Path) -> None:
    base = "{id: a, label: A, model: {timm: host, mlp: {imlp: {kernel: 5}}}, printed: {params: 5.72}}"
    counts = {
        "host+5": Count(6_000_000),
        "host+5@skip": Count(5_000_000),
        "host+3": Count(5_000_000),
        "host+3@skip": Count(4_000_000),
    }
    _, check = both(tmp_path / "a", counts, base, row("-20.0%"))
    assert (check.verdict, check.under) == (Verdict.REPRODUCED_UNDER, ("reading skip",))
    for delta in ("-33.3%", "0.0%"):
        assert both(tmp_path / delta, counts, base, row(delta))[1].verdict is Verdict.DIFFERS


@pytest.mark.parametrize("lacking", [0, 1])
def test_a_change_between_rows_without_a_recipe_is_judged_only_by_the_cells(tmp_path: Path, lacking: int) -> None:
    rows = [BASE, row("-12.6%")]
    rows[lacking] = [BASE.replace("model: {timm: host}, ", ""), row("-12.6%", model="")][lacking]
    cells, models = both(tmp_path, COUNTS, *rows)
    assert cells.verdict is Verdict.REPRODUCED
    assert (models.verdict, models.reason) == (Verdict.UNVERIFIABLE, "the spec gives no model")


@pytest.mark.parametrize("unsure", ["host", "host+3"])
def test_uncounted_work_on_either_side_bars_the_verdict(tmp_path: Path, unsure: str) -> None:
    rows = [
        "{id: a, label: A, model: {timm: host}, printed: {flops: 2.00}}",
        "{id: b, label: B, baseline: a, model: {timm: host, mlp: {imlp: {kernel: 3}}}, printed: {flops: 1.00},"
        " delta: {flops: -50%}}",
    ]
    sizes = {"host": 2 * 10**9, "host+3": 10**9}
    counts = {key: Count(1, macs=macs, unknown=("fft",) if key == unsure else ()) for key, macs in sizes.items()}
    checks = checked(tmp_path, counts, Spec(tuple(rows)))
    assert checks["p/1/b/flops.delta"].verdict is Verdict.REPRODUCED
    assert checks["p/1/b/flops.delta.measured"].verdict is Verdict.UNVERIFIABLE


@pytest.mark.parametrize(
    ("delta", "macs", "unknown", "verdict"),
    [
        ("50%", 1.0, ("fft",), Verdict.UNVERIFIABLE),  # -50 % so far, but not all is counted
        ("0%", 2.0, (), Verdict.REPRODUCED),  # +0 and -0 are one number
        ("50%", 1.0, (), Verdict.DIFFERS),
    ],
)
def test_only_a_change_that_differs_has_a_hint_about_its_sign(
    tmp_path: Path, delta: str, macs: float, unknown: tuple[str, ...], verdict: Verdict
) -> None:
    rows = (
        "{id: a, label: A, model: {timm: host}, printed: {flops: 2.00}}",
        f"{{id: b, label: B, baseline: a, model: {{timm: other}}, printed: {{flops: {macs}0}}, "
        f"delta: {{flops: {delta}}}}}",
    )
    counts = {"host": Count(1, macs=2 * 10**9), "other": Count(1, macs=int(macs * 10**9), unknown=unknown)}
    checks = checked(tmp_path, counts, Spec(rows))
    assert checks["p/1/b/flops.delta.measured"].verdict is verdict
    for check in (checks["p/1/b/flops.delta"], checks["p/1/b/flops.delta.measured"]):
        failing = check.verdict in (Verdict.DIFFERS, Verdict.INCONSISTENT)
        assert any("would follow" in hint for hint in check.hint_texts) == failing


@pytest.mark.parametrize(
    ("about", "verdict", "under", "hints"),
    [
        ("rounding: [truncation]", Verdict.REPRODUCED, (), False),
        ("rounding: [half_up, truncation]", Verdict.REPRODUCED_UNDER, ("rounding truncation",), False),
        ("rounding: [half_up]", Verdict.INCONSISTENT, (), True),
    ],
)
def test_a_change_follows_under_a_declared_rounding_rule(
    tmp_path: Path, about: str, verdict: Verdict, under: tuple[str, ...], hints: bool
) -> None:
    # -66.66...% cut to a digit; the cells' own digits leave less than 0.01 % open
    rows = ("{id: a, label: A, printed: {params: 300.00}}",
            "{id: b, label: B, baseline: a, printed: {params: 100.00}, delta: {params: -66.6%}}")  # fmt: skip
    check = both(tmp_path, COUNTS, *rows, about=about)[0]
    assert (check.verdict, check.under, check.measured) == (verdict, under, "300.00 to 100.00")
    assert any("rounding truncation" in hint for hint in check.hint_texts) == hints


@pytest.mark.parametrize("failing", ["host+5", "host+5@skip", "host+3", "host+3@skip"])
def test_a_change_is_not_judged_to_differ_if_a_model_failed(tmp_path: Path, failing: str) -> None:
    base = "{id: a, label: A, model: {timm: host, mlp: {imlp: {kernel: 5}}}, printed: {params: 5.72}}"
    names = ("host+5", "host+5@skip", "host+3", "host+3@skip")
    counts = {**{name: Count(5_000_000) for name in names}, failing: None}
    assert both(tmp_path, counts, base, row("-20.0%"))[1].verdict is Verdict.ERROR


def test_a_change_from_zero_is_recorded_as_an_error(tmp_path: Path) -> None:
    _, check = both(tmp_path, {"host": Count(0), "host+3": Count(5_000_000)}, BASE, row("-12.6%"))
    assert (check.verdict, "from 0 is not defined" in check.reason) == (Verdict.ERROR, True)
