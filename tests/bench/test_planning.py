"""Which cells are measured, and against what; and what this machine calls itself."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest
import torch

from imlp_audit.bench import planning as module
from imlp_audit.bench.planning import RowComparison, find_column, find_table, hardware, plan_comparisons, processor
from imlp_audit.errors import UsageError
from imlp_audit.spec.load import load

from .papers import LARGE, SMALL, paper, row

ROWS = (row("a", SMALL, "10"), row("b", LARGE, "20", "a"), row("c", None, "30"), row("d", SMALL))


def shown(found: tuple[RowComparison, ...]) -> list[tuple[str, str | None]]:
    return [(one.cell.row.row.id, one.base.row.id if one.base else None) for one in found]


def test_rows_that_print_a_throughput_are_timed_against_their_baselines(tmp_path: Path) -> None:
    found = paper(tmp_path, *ROWS)
    assert shown(plan_comparisons(found, found.tables[0], "cpu")) == [("a", None), ("b", "a"), ("c", None)]


@pytest.mark.parametrize("glob", ["b", "p/1/b", "[b-z]"])
def test_rows_are_narrowed_by_globs(tmp_path: Path, glob: str) -> None:
    found = paper(tmp_path, *ROWS)
    assert shown(plan_comparisons(found, found.tables[0], "cpu", [glob]))[0] == ("b", "a")


def test_every_row_can_be_timed_against_one(tmp_path: Path) -> None:
    found = paper(tmp_path, *ROWS)
    assert shown(plan_comparisons(found, found.tables[0], "cpu", against="b")) == [("a", "b"), ("b", None), ("c", "b")]
    assert shown(plan_comparisons(found, found.tables[0], "cpu", against="d")) == [("a", "d"), ("b", "d"), ("c", "d")]


@pytest.mark.parametrize(
    ("globs", "against", "told"),
    [
        (["x*"], None, r"no row with a number in 'cpu' is selected by --rows x\*; rows: a, b, c, d"),
        (["d"], None, "is selected by --rows d"),
        ([], "bb", "no row 'bb'; did you mean 'b'"),
        ([], "c", "has no model for p/1/c"),
    ],
)
def test_what_cannot_be_selected(tmp_path: Path, globs: list[str], against: str | None, told: str) -> None:
    found = paper(tmp_path, *ROWS)
    with pytest.raises(UsageError, match=told):
        plan_comparisons(found, found.tables[0], "cpu", globs, against)


def test_columns(tmp_path: Path) -> None:
    table = paper(tmp_path, *ROWS).tables[0].value
    assert find_column(table, None, "cpu") == "cpu"
    assert find_column(table, None, "cuda") == "gpu"
    assert find_column(table, "gpu", "cpu") == "gpu"
    with pytest.raises(UsageError, match="no throughput column 'params'; its throughput columns: cpu, gpu"):
        find_column(table, "params", "cpu")


def test_the_only_column_of_throughput_needs_no_name_and_a_table_without_one_is_refused() -> None:
    (resmlp,) = load(["resmlp"]).papers
    assert find_column(find_table(resmlp, "1").value, None, "cpu") == "throughput"
    with pytest.raises(UsageError, match="table 3 has no throughput column"):
        find_column(find_table(resmlp, "3").value, None, "cpu")


@pytest.mark.slow
def test_table_9_of_imlp() -> None:
    (imlp,) = load(["imlp"]).papers
    names = ["deit_ti", "deit_s", "deit_b"]
    expected = [pair for name in names for pair in ((name, None), (f"{name}_imlp", name))]
    assert shown(plan_comparisons(imlp, find_table(imlp, "9"), "gpu")) == expected


def test_the_processor_is_the_first_that_linux_lists(tmp_path: Path) -> None:
    file = tmp_path / "cpuinfo"
    lines = ["processor\t: 0", "model\t\t: 85", "model name\t: Intel(R) Xeon(R) Gold 6136 CPU @ 3.00GHz"]
    file.write_text("\n".join([*lines, "model name\t: another"]), encoding="utf-8")
    assert processor(file) == "Intel(R) Xeon(R) Gold 6136 CPU @ 3.00GHz"


def test_elsewhere_python_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert processor(tmp_path / "none") == "arm64"


@pytest.mark.parametrize(("count", "told"), [(1, "1 core"), (2, "2 cores")])
def test_cores_are_those_that_may_be_used(count: int, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "cores", lambda: count)
    assert hardware("cpu").endswith(f", {told}")


def test_a_gpu_is_named_before_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Tesla V100")
    assert hardware("cuda") == f"Tesla V100 ({hardware('cpu')})"
