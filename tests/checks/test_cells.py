from pathlib import Path

import pytest

from imlp_audit.records.check import Measurement, Source, Verdict
from tests.checks.papers import Count, Counts, SomeCheck, Spec, checked

ROW = "{id: a, label: A, model: {timm: host}, printed: {params: 5.00, flops: 1.10}}"
BLOCK = "{id: a, label: A, model: {timm: host, mlp: {imlp: {kernel: 3}}}, printed: {params: 5.00, flops: 1.10}}"
GOOD = Count(params=4_998_184, macs=1_100_000_000)


def cell(root: Path, counts: Counts, row: str = ROW, column: str = "params", about: str = "") -> SomeCheck:
    return checked(root, counts, Spec((row,), about=about))[f"p/1/a/{column}"]


def test_a_cell_that_fits_is_reproduced_with_all_it_rests_on(tmp_path: Path) -> None:
    spec = Spec((ROW,))
    line = spec.text().splitlines().index(f"      - {ROW}") + 1
    check = checked(tmp_path, {"host": GOOD}, spec)["p/1/a/params"]
    assert check.source == Source(file=(tmp_path / "p/paper.yaml").as_posix(), line=line)
    assert check.model_dump(exclude={"source", "reason", "also"}, exclude_defaults=True) == {
        "place": "Table 1, A, Parameters (M)",
        "id": "p/1/a/params",
        "verdict": "reproduced",
        "printed": "5.00",
        "unit": "M",
        "interval": ("4995000", "5005000"),
        "measured": "4998184",
        "gap": "-0.2",  # -1816 of the last digit's 10 000
        "reading": "plain",
        "convention": "all",
        "rounding": "half_up",
        "power": {"one": {"caught": 2, "tried": 2}, "ten": {"caught": 20, "tried": 20}},
    }


@pytest.mark.parametrize(
    ("params", "verdict"),
    [
        (4_994_999, Verdict.DIFFERS),
        (4_995_000, Verdict.REPRODUCED),
        (5_004_999, Verdict.REPRODUCED),
        (5_005_000, Verdict.DIFFERS),
    ],
)
def test_one_parameter_decides(tmp_path: Path, params: int, verdict: Verdict) -> None:
    assert cell(tmp_path, {"host": Count(params)}).verdict is verdict


@pytest.mark.parametrize(
    ("plain", "skip", "verdict", "under"),
    [
        (5_000_000, 5_000_000, Verdict.REPRODUCED, ()),
        (5_000_000, 6_000_000, Verdict.REPRODUCED, ()),
        (6_000_000, 5_000_000, Verdict.REPRODUCED_UNDER, ("reading skip",)),
        (6_000_000, 6_000_000, Verdict.DIFFERS, ()),
    ],
)
def test_readings(tmp_path: Path, plain: int, skip: int, verdict: Verdict, under: tuple[str, ...]) -> None:
    check = cell(tmp_path, {"host+3": Count(plain), "host+3@skip": Count(skip)}, BLOCK)
    assert (check.verdict, check.under) == (verdict, under)
    values = {check.reading: check.measured} | {one.reading: one.measured for one in check.also}
    assert values == {"plain": str(plain), "skip": str(skip)}


def test_the_chosen_reading_is_the_default(tmp_path: Path) -> None:
    counts = {"host+3": Count(6_000_000), "host+3@skip": Count(5_000_000)}
    check = checked(tmp_path, counts, Spec((BLOCK,)), reading="skip")["p/1/a/params"]
    assert (check.verdict, check.reading, check.under) == (Verdict.REPRODUCED, "skip", ())
    assert check.also == (Measurement(reading="plain", convention="all", measured="6000000", verdict=Verdict.DIFFERS),)


@pytest.mark.parametrize(
    ("about", "verdict", "under", "hints"),
    [
        ("parameters: [no_head, all]", Verdict.REPRODUCED, (), False),
        ("parameters: [all, no_head]", Verdict.REPRODUCED_UNDER, ("convention no_head",), False),
        ("parameters: [all]", Verdict.DIFFERS, (), True),
    ],
)
def test_parameter_conventions(
    tmp_path: Path, about: str, verdict: Verdict, under: tuple[str, ...], hints: bool
) -> None:
    check = cell(tmp_path, {"host": Count(5_100_000, head=100_000)}, about=about)
    assert (check.verdict, check.under, bool(check.hint_texts)) == (verdict, under, hints)
    assert all("5 000 000 would fit under convention no_head" in hint for hint in check.hint_texts)


@pytest.mark.parametrize(
    ("about", "verdict", "under", "measured"),
    [
        ("flops: [fvcore]", Verdict.REPRODUCED, (), 1_100_000_000),
        ("flops: [macs, fvcore]", Verdict.REPRODUCED_UNDER, ("convention fvcore",), 1_100_000_000),
        ("flops: [macs]", Verdict.DIFFERS, (), 1_060_000_000),
        ("flops: [own, macs]\n  conventions: {own: {linear: 1, layer_norm: 4}}", Verdict.REPRODUCED, (), 1_100_000_000),
        ("conventions: {own: {linear: 2}}\n  flops: [own]", Verdict.DIFFERS, (), 2_120_000_000),
    ],
)
def test_flops_conventions(tmp_path: Path, about: str, verdict: Verdict, under: tuple[str, ...], measured: int) -> None:
    counts = {"host": Count(5_000_000, macs=1_060_000_000, norms=10_000_000)}  # fvcore: four for each norm's element
    check = cell(tmp_path, counts, column="flops", about=about)
    assert (check.verdict, check.under, check.measured) == (verdict, under, str(measured))


@pytest.mark.parametrize(
    ("about", "verdict", "under"),
    [
        ("rounding: [truncation]", Verdict.REPRODUCED, ()),
        ("rounding: [half_up, truncation]", Verdict.REPRODUCED_UNDER, ("rounding truncation",)),
        ("rounding: [half_up, ceiling]", Verdict.DIFFERS, ()),
    ],
)
def test_rounding_rules(tmp_path: Path, about: str, verdict: Verdict, under: tuple[str, ...]) -> None:
    check = cell(tmp_path, {"host": Count(5_007_000)}, about=about)
    assert (check.verdict, check.under) == (verdict, under)
    assert any("rounding truncation" in hint for hint in check.hint_texts) == (verdict is Verdict.DIFFERS)


def test_uncounted_work_bars_a_verdict_on_work_alone(tmp_path: Path) -> None:
    counts = {"host": Count(5_000_000, macs=1_100_000_000, unknown=("aten::fft",))}
    checks = checked(tmp_path, counts, Spec((ROW,)))
    assert checks["p/1/a/params"].verdict is Verdict.REPRODUCED
    assert checks["p/1/a/flops"].verdict is Verdict.UNVERIFIABLE
    assert "aten::fft" in checks["p/1/a/flops"].reason


def test_what_cannot_be_counted_is_unverifiable_with_what_it_needs(tmp_path: Path) -> None:
    row = "{id: a, label: A, printed: {params: 5.00, top1: 72.2}}"
    checks = checked(tmp_path, {}, Spec((row,)))
    assert {check.id: (check.verdict, check.reason, check.printed) for check in checks.values()} == {
        "p/1/a/params": (Verdict.UNVERIFIABLE, "the spec gives no model", "5.00"),
        "p/1/a/top1": (Verdict.UNVERIFIABLE, "needs trained weights and images", "72.2"),
    }


def test_a_model_that_fails_is_an_error_only_of_its_own_checks(tmp_path: Path) -> None:
    rows = (
        "{id: a, label: A, model: {timm: host}, printed: {params: 5.00, top1: 70.0}}",
        "{id: b, label: B, baseline: a, model: {timm: broken}, printed: {params: 4.00, top1: 71.0},"
        " delta: {params: -20%}}",
        "{id: c, label: C, baseline: b, model: {timm: host}, printed: {params: 5.00}, delta: {params: 25%}}",
        "{id: d, label: D, baseline: a, model: {timm: host}, printed: {params: 5.00}, delta: {params: 0%}}",
    )
    checks = checked(tmp_path, {"host": GOOD}, Spec(rows))
    failed = {check.id for check in checks.values() if check.verdict is Verdict.ERROR}
    assert failed == {
        "p/1/b/params",
        "p/1/b/params.delta.measured",
        "p/1/c/params.delta.measured",
        "p/columns/1",
    }
    assert {checks[one].reason for one in failed} == {"no model broken"}
    passed = ("p/1/a/params", "p/1/b/params.delta", "p/1/c/params", "p/1/c/params.delta", "p/1/d/params.delta.measured")
    assert {checks[one].verdict for one in passed} == {Verdict.REPRODUCED}


@pytest.mark.parametrize(
    ("plain", "skip", "verdict"),
    [
        (5_000_000, None, Verdict.REPRODUCED),
        (6_000_000, None, Verdict.ERROR),  # the reading that failed might have given it
        (None, 5_000_000, Verdict.ERROR),
        (None, None, Verdict.ERROR),
    ],
)
def test_a_reading_that_fails_is_no_evidence(
    tmp_path: Path, plain: int | None, skip: int | None, verdict: Verdict
) -> None:
    counts = {key: Count(n) if n else None for key, n in (("host+3", plain), ("host+3@skip", skip))}
    check = cell(tmp_path, counts, BLOCK)
    assert (check.verdict, check.printed) == (verdict, "5.00")
    assert check.verdict is not Verdict.ERROR or check.reason.startswith("no model host+3")
