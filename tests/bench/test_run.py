"""From cells to checks, with what fails among them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from imlp_audit.bench import run as running
from imlp_audit.bench.planning import Setup, plan_comparisons
from imlp_audit.bench.run import Forward, bench
from imlp_audit.errors import UsageError
from imlp_audit.records.base import from_json, to_json
from imlp_audit.records.check import CellCheck, Throughput, Verdict
from imlp_audit.records.result import AuditResult

from .papers import BLOCK, LARGE, SMALL, VIT, paper, row

SETUP = Setup(batch=2, pairs=6)


def made(root: Path, *rows: str, setup: Setup = SETUP, told: list[str] | None = None) -> AuditResult:
    found = paper(root, *rows)
    names: list[str] = [] if told is None else told

    def announce(total: int) -> Callable[[str], None]:
        names.append(str(total))
        return names.append

    return bench(found, plan_comparisons(found, found.tables[0], "cpu"), setup, announce)


def check(result: AuditResult, row: str) -> CellCheck:
    return result.find(f"p/1/{row}/cpu", CellCheck)


def throughput(found: CellCheck) -> Throughput:
    (one,) = found.evidence
    assert isinstance(one, Throughput)
    return one


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "LEAST", 0.002)


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_a_model_with_sixteen_times_the_layers_is_found_slower(tmp_path: Path) -> None:
    result = made(tmp_path, row("a", SMALL, "10.0"), row("b", LARGE, "20.0", "a"))
    found = throughput(check(result, "b"))
    assert float(found.high) < 1
    assert float(found.low) <= float(found.ratio) <= float(found.high)
    assert "slower, but printed as faster" in check(result, "b").reason
    assert check(result, "a").measured == found.baseline
    assert check(result, "a").evidence == ()
    assert {one.verdict for one in result.checks} == {Verdict.UNVERIFIABLE}
    assert from_json(AuditResult, to_json(result), "it") == result
    assert (found.batch, found.pairs, found.stated) == (2, 6, "an abacus")
    assert found.settings["against"] == "p/1/a"


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [6, 9])
def test_every_measurement_is_announced_and_nothing_else(tmp_path: Path, pairs: int) -> None:
    told: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "seconds", lambda forward, threads: 0.5)
        rows = (row("a", SMALL, "10.0"), row("b", LARGE, "20.0", "a"), row("c", SMALL, "1.0"), row("d", None, "2.0"))
        result = made(tmp_path, *rows, setup=Setup(batch=1, pairs=pairs), told=told)
    assert told[0] == str(2 * pairs)  # b against a, and c alone
    assert told[1:] == [*["b against a, batch size 1"] * pairs, *["c, batch size 1"] * pairs]
    assert [one.measured for one in result.of_kind(CellCheck)] == ["2", "2", "2", None]  # 1 image in half a second
    assert check(result, "d").reason == "needs an abacus; the spec gives no model"
    assert throughput(check(result, "b")).batch == 1
    assert "2 (95 % [2, 2]) imgs/s at batch size 1" in check(result, "c").reason


def test_ratio_is_of_throughputs_baseline_seconds_over_variant_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = iter([0.5, 0.25, 0.25, 0.5] * 3)  # base, variant; variant, base; ...
    monkeypatch.setattr(running, "seconds", lambda forward, threads: next(taken))
    found = throughput(check(made(tmp_path, row("a", SMALL, "1.0"), row("b", LARGE, "2.0", "a")), "b"))
    assert (found.baseline, found.variant, found.ratio, found.low, found.high) == ("4", "8", "2", "2", "2")


@pytest.mark.slow
def test_a_model_that_fails_is_an_error_and_the_others_go_on(tmp_path: Path) -> None:
    rows = (
        row("a", SMALL, "10.0"),
        row("b", "{timm: resnet18, mlp: {imlp: {ratio: 2}}}", "20.0", "a"),
        row("c", "{timm: no_such_model}", "20.0", "a"),
        row("e", LARGE, "20.0", "a"),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "seconds", lambda forward, threads: 0.5)
        result = made(tmp_path, *rows)
    verdicts = [one.verdict for one in result.checks]
    assert verdicts == [Verdict.UNVERIFIABLE, Verdict.ERROR, Verdict.ERROR, Verdict.UNVERIFIABLE]
    assert "no timm.layers.Mlp that could be replaced" in check(result, "b").reason
    assert "timm has no model 'no_such_model'" in check(result, "c").reason


@pytest.mark.slow
def test_a_baseline_whose_contests_all_fail_is_timed_alone(tmp_path: Path) -> None:
    rows = (row("a", SMALL, "10.0"), row("c", "{timm: no_such_model}", "20.0", "a"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "seconds", lambda forward, threads: 0.5)
        result = made(tmp_path, *rows)
    assert [one.measured for one in result.of_kind(CellCheck)] == ["4", None]


@pytest.mark.daily(2)
@pytest.mark.parametrize(
    ("error", "told"),
    [
        (torch.OutOfMemoryError("CUDA out of memory"), "memory ran out at batch size 2; give a smaller --batch-size"),
        (MemoryError(), "memory ran out at batch size 2; give a smaller --batch-size"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: 9"), "memory ran out at batch size 2"),
        (ValueError("odd\nmore"), "the model could not be timed: ValueError: odd"),
        (RuntimeError(), "the model could not be timed: RuntimeError: "),
    ],
)
def test_failures_are_reported_with_advice(tmp_path: Path, error: Exception, told: str) -> None:
    def fails(forward: Forward, threads: int) -> float:
        raise error

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "seconds", fails)
        found = made(tmp_path, row("a", SMALL, "10.0")).of_kind(CellCheck)[0]
    assert (found.verdict, found.measured) == (Verdict.ERROR, None)
    assert found.reason.startswith(told)
    assert "more" not in found.reason


@pytest.mark.slow
def test_readings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "seconds", lambda forward, threads: 0.5)
    rows = (row("a", VIT, "10.0"), row("b", BLOCK, "20.0", "a"))
    found = check(made(tmp_path, *rows), "b")
    assert (found.reading, throughput(found).settings["reading"]) == ("plain", "plain")
    found = check(made(tmp_path, *rows, setup=Setup(batch=2, pairs=6, reading="skip")), "b")
    assert (found.reading, throughput(found).settings["reading"]) == ("skip", "skip")
    with pytest.raises(UsageError, match="no reading is called 'skp'; did you mean 'skip'"):
        made(tmp_path, *rows, setup=Setup(reading="skp"))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no CUDA device here")
@pytest.mark.usefixtures("quick")
def test_on_a_gpu(tmp_path: Path) -> None:
    rows = (row("a", SMALL, "10.0"), row("b", LARGE, "20.0", "a"))
    found = throughput(check(made(tmp_path, *rows, setup=Setup(batch=2, pairs=6, device="cuda")), "b"))
    assert float(found.high) < 1
    assert found.hardware.startswith(torch.cuda.get_device_name())
