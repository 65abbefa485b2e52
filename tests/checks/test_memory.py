from pathlib import Path

import pytest

from imlp_audit.checks.context import Context
from imlp_audit.checks.run import models_needed
from imlp_audit.count.facts import Need
from imlp_audit.count.record import Peak
from imlp_audit.records.check import Verdict
from imlp_audit.spec.plan import plan
from tests.checks.papers import Count, Counts, SomeCheck, Spec, checked, name, write

MIB, MB = 2**20, 10**6
MEMORY = "mem: {measure: memory, unit: MB, batch: 4, heading: Peak (MB), needs: the authors' GPU}"
MORE = "more: {measure: memory, unit: MB, batch: 32, heading: Peak (MB), needs: the authors' GPU}"
ROW = "{id: a, label: A, model: {timm: host}, printed: {mem: 100.0}}"
BLOCK = "{id: a, label: A, model: {timm: host, mlp: {imlp: {kernel: 3}}}, printed: {mem: 100.0}}"


def counts(live: int, least: int) -> Counts:
    return {"host": Count(1, peaks={4: Peak(live, least)})}


def cell(root: Path, found: Counts, row: str = ROW, about: str = "memory: [mib]") -> SomeCheck:
    return checked(root, found, Spec((row,), columns=(MEMORY,), about=about))["p/1/a/mem"]


def test_a_peak_that_prints_so_is_reproduced_with_all_it_rests_on(tmp_path: Path) -> None:
    check = cell(tmp_path, counts(100 * MIB, 90 * MIB))
    assert check.model_dump(exclude={"source", "reason", "also"}, exclude_defaults=True) == {
        "place": "Table 1, A, Peak (MB)",
        "id": "p/1/a/mem",
        "verdict": "reproduced",
        "printed": "100.0",
        "unit": "MB",
        "interval": ("99.95", "100.05"),
        "measured": "100",
        "gap": "0",
        "reading": "plain",
        "convention": "mib",
        "rounding": "half_up",
    }
    assert "100 MiB" in check.reason


@pytest.mark.parametrize(
    ("live", "verdict"),
    [
        (104_805_171, Verdict.UNVERIFIABLE),  # 99.95 x 2^20 is 104 805 171.2
        (104_805_172, Verdict.REPRODUCED),
        (104_910_028, Verdict.REPRODUCED),  # 100.05 x 2^20 is 104 910 028.8
        (104_910_029, Verdict.UNVERIFIABLE),
    ],
)
def test_one_byte_decides(tmp_path: Path, live: int, verdict: Verdict) -> None:
    assert cell(tmp_path, counts(live, 0)).verdict is verdict


@pytest.mark.parametrize(
    ("least", "verdict"),
    [
        (104_910_028, Verdict.UNVERIFIABLE),
        (104_910_029, Verdict.DIFFERS),  # every number that prints as 100.0 is smaller
        (200 * MIB, Verdict.DIFFERS),
    ],
)
def test_less_than_any_program_needs_is_not_possible(tmp_path: Path, least: int, verdict: Verdict) -> None:
    assert cell(tmp_path, counts(300 * MIB, least)).verdict is verdict


def test_a_floor_at_the_open_end_of_what_is_printed_is_above_it(tmp_path: Path) -> None:
    """100 stands for less than 100.5."""
    row = ROW.replace("100.0", "100")
    for least, verdict in ((100 * MIB + MIB // 2 - 1, Verdict.UNVERIFIABLE), (100 * MIB + MIB // 2, Verdict.DIFFERS)):
        assert cell(tmp_path / str(least), counts(300 * MIB, least), row).verdict is verdict


def test_what_lies_between_is_open_and_says_what_a_check_needs(tmp_path: Path) -> None:
    check = cell(tmp_path, counts(120 * MIB, 80 * MIB))
    assert check.verdict is Verdict.UNVERIFIABLE
    assert check.measured == "120"
    assert "120 MiB" in check.reason
    assert check.reason.endswith("how much of it the authors' code frees earlier needs the authors' GPU")
    less = cell(tmp_path / "less", counts(90 * MIB, 80 * MIB))
    assert less.verdict is Verdict.UNVERIFIABLE
    assert less.reason.endswith("what fills the rest needs the authors' GPU")


@pytest.mark.parametrize(
    ("about", "live", "verdict", "convention", "measured", "under"),
    [
        ("memory: [mib, mb]", 100 * MIB, Verdict.REPRODUCED, "mib", "100", ()),
        ("memory: [mib, mb]", 100 * MB, Verdict.REPRODUCED_UNDER, "mb", "100", ("convention mb",)),
        ("memory: [mb, mib]", 100 * MIB, Verdict.REPRODUCED_UNDER, "mib", "100", ("convention mib",)),
        ("memory: [mb]", 100 * MIB, Verdict.UNVERIFIABLE, "mb", "104.8576", ()),
        ("version: v2", 100 * MIB, Verdict.REPRODUCED, "mib", "100", ()),  # where the paper's file says nothing
        ("version: v2", 100 * MB, Verdict.UNVERIFIABLE, "mib", "95.367431640625", ()),
    ],
)
def test_memory_conventions(
    tmp_path: Path, about: str, live: int, verdict: Verdict, convention: str, measured: str, under: tuple[str, ...]
) -> None:
    spec = Spec((ROW,), columns=(MEMORY,), about=about.replace("version: v2", "url: https://example.org"))
    check = checked(tmp_path, counts(live, 0), spec)["p/1/a/mem"]
    assert (check.verdict, check.convention, check.measured, check.under) == (verdict, convention, measured, under)


def test_a_floor_below_the_number_in_one_convention_leaves_it_open(tmp_path: Path) -> None:
    """100 MiB are 104.9 MB: a printed 102.0 may be MiB."""
    row = ROW.replace("100.0", "102.0")
    for about, verdict in (("[mb]", Verdict.DIFFERS), ("[mb, mib]", Verdict.UNVERIFIABLE)):
        check = cell(tmp_path / about, counts(200 * MIB, 100 * MIB), row, f"memory: {about}")
        assert check.verdict is verdict


@pytest.mark.parametrize(
    ("rounding", "live", "least", "verdict", "under"),
    [
        ("[truncation]", 100 * MIB + MIB // 12, 0, Verdict.REPRODUCED, ()),
        ("[half_up, truncation]", 100 * MIB + MIB // 12, 0, Verdict.REPRODUCED_UNDER, ("rounding truncation",)),
        ("[half_up]", 100 * MIB + MIB // 12, 0, Verdict.UNVERIFIABLE, ()),
        ("[half_up, truncation]", 200 * MIB, 100 * MIB + MIB // 12, Verdict.UNVERIFIABLE, ()),
        ("[half_up]", 200 * MIB, 100 * MIB + MIB // 12, Verdict.DIFFERS, ()),
        ("[ceiling]", 200 * MIB, 100 * MIB, Verdict.UNVERIFIABLE, ()),  # 100 itself is printed as 100.0
        ("[ceiling]", 200 * MIB, 100 * MIB + 1, Verdict.DIFFERS, ()),
    ],
)
def test_rounding_rules(
    tmp_path: Path, rounding: str, live: int, least: int, verdict: Verdict, under: tuple[str, ...]
) -> None:
    check = cell(tmp_path, counts(live, least), about=f"rounding: {rounding}")
    assert (check.verdict, check.under) == (verdict, under)


def test_a_model_that_fails_is_an_error(tmp_path: Path) -> None:
    check = cell(tmp_path, {})
    assert (check.verdict, check.reason, check.printed) == (Verdict.ERROR, "no model host", "100.0")


@pytest.mark.parametrize(
    ("plain", "skip", "verdict", "reading"),
    [
        (Peak(100 * MIB, 0), Peak(100 * MIB, 0), Verdict.REPRODUCED, "plain"),
        (Peak(120 * MIB, 0), Peak(100 * MIB, 0), Verdict.REPRODUCED_UNDER, "skip"),
        (Peak(120 * MIB, 110 * MIB), Peak(120 * MIB, 0), Verdict.UNVERIFIABLE, "plain"),
        (Peak(120 * MIB, 110 * MIB), Peak(120 * MIB, 110 * MIB), Verdict.DIFFERS, "plain"),
    ],
)
def test_readings(tmp_path: Path, plain: Peak, skip: Peak, verdict: Verdict, reading: str) -> None:
    found = {"host+3": Count(1, peaks={4: plain}), "host+3@skip": Count(1, peaks={4: skip})}
    check = cell(tmp_path, found, BLOCK)
    assert (check.verdict, check.reading) == (verdict, reading)


def test_a_reading_that_failed_might_have_needed_less(tmp_path: Path) -> None:
    """No number can be said to be impossible as long as one model is not known."""
    found = {"host+3": Count(1, peaks={4: Peak(120 * MIB, 110 * MIB)}), "host+3@skip": None}
    assert cell(tmp_path / "other", found, BLOCK).verdict is Verdict.ERROR
    found = {"host+3": Count(1, peaks={4: Peak(100 * MIB, 0)}), "host+3@skip": None}
    assert cell(tmp_path / "fits", found, BLOCK).verdict is Verdict.REPRODUCED


def needed(root: Path, *rows: str) -> dict[str, Need]:
    selection = write(root, Spec(rows, columns=(MEMORY, MORE)))
    found = models_needed(plan(selection.papers[0], selection.known), Context({}))
    return {name(key): need for key, need in found.items()}


def test_a_models_memory_is_needed_only_for_the_batches_of_its_columns(tmp_path: Path) -> None:
    """Its parameters come with it, and its work where a column asks for it."""
    assert needed(tmp_path / "a", ROW) == {"host": Need(batches=frozenset({4}))}
    both = ROW.replace("mem: 100.0", "mem: 100.0, more: 800.0")
    assert needed(tmp_path / "b", both) == {"host": Need(batches=frozenset({4, 32}))}
    with_work = ROW.replace("mem: 100.0", "mem: 100.0, flops: 1.00")
    assert needed(tmp_path / "c", with_work) == {"host": Need(work=True, batches=frozenset({4}))}
    apart = ROW.replace("id: a", "id: b").replace("mem: 100.0", "more: 800.0")
    assert needed(tmp_path / "d", ROW, apart) == {"host": Need(batches=frozenset({4, 32}))}
    other = apart.replace("timm: host", "timm: other")
    assert needed(tmp_path / "e", ROW, other) == {
        "host": Need(batches=frozenset({4})),
        "other": Need(batches=frozenset({32})),
    }
    assert needed(tmp_path / "f", "{id: a, label: A, printed: {mem: 100.0}}") == {}


def test_each_column_is_judged_by_its_own_batch(tmp_path: Path) -> None:
    row = ROW.replace("mem: 100.0", "mem: 100.0, more: 800.0")
    found = {"host": Count(1, peaks={4: Peak(100 * MIB, 0), 32: Peak(800 * MIB, 0)})}
    checks = checked(tmp_path, found, Spec((row,), columns=(MEMORY, MORE)))
    assert {one: check.verdict for one, check in checks.items()} == {
        "p/1/a/mem": Verdict.REPRODUCED,
        "p/1/a/more": Verdict.REPRODUCED,
        "p/columns/1": Verdict.UNVERIFIABLE,
    }
    assert checks["p/1/a/more"].measured == "800"
