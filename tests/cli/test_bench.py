"""`imlp-audit bench`."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
import torch

from imlp_audit.bench import run as running
from tests.bench.papers import LARGE, SMALL, VIT, row, write

from .running import call

ROWS = (
    row("a", SMALL, "10.0"),
    row("b", LARGE, "20.0", "a", ", delta: {cpu: +100%}"),
    row("v", VIT, "5.0"),
    row("same", SMALL, "9.0", "a"),
    row("broken", "{timm: no_such_model}", "6.0", "a"),
)


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to stand in, with the small paper; measurements are short."""
    write(tmp_path, *ROWS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(running, "LEAST", 0.002)
    return tmp_path


@pytest.mark.slow
@pytest.mark.usefixtures("paper")
def test_a_table(paper: Path) -> None:
    done = call(
        "bench", "--table", "p/1", "--rows", "[ab]", "--batch-size", "2", "--pairs", "6", "--all",
        "-o", "json:r.json", "-o", "markdown:r.md",
    )  # fmt: skip
    assert (done.code, done.err) == (0, "")
    assert "needs an abacus; measured on " in done.out
    words = " ".join(done.out.split())  # where a line ends depends on the digits of what was measured
    assert "(+100%): slower, but printed as faster" in words
    found = json.loads((paper / "r.json").read_text(encoding="utf-8"))
    assert found["summary"]["unverifiable"] == 2
    (evidence,) = next(check for check in found["checks"] if check["id"] == "p/1/b/cpu")["evidence"]
    assert (evidence["kind"], evidence["batch"], evidence["pairs"]) == ("throughput", 2, 6)
    assert float(evidence["high"]) < 1
    report = (paper / "r.md").read_text(encoding="utf-8")
    assert "needs an abacus" in report


@pytest.mark.usefixtures("paper")
def test_json_alone_is_one_document() -> None:
    done = call("bench", "--table", "specs/p/1", "--rows", "v", "--batch-size", "1", "--pairs", "6", "-f", "json")
    assert done.code == 0
    (check,) = json.loads(done.out)["checks"]
    assert (check["id"], check["printed"], check["verdict"]) == ("p/1/v/cpu", "5.0", "unverifiable")
    assert float(check["measured"]) > 0


@pytest.mark.usefixtures("paper")
def test_on_the_papers_hardware_a_wrong_direction_is_a_finding() -> None:
    options = ("--rows", "b", "--batch-size", "2", "--pairs", "6", "--same-hardware")
    done = call("bench", "--table", "p/1", *options)
    assert done.code == 1
    assert "differs p/1/b/cpu printed 20.0" in done.out


@pytest.mark.slow
@pytest.mark.usefixtures("paper")
def test_a_model_that_fails_is_exit_3_and_the_others_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "seconds", lambda forward, threads: 0.5)
    done = call("bench", "--table", "p/1", "--batch-size", "2", "-f", "json")
    assert done.code == 3
    verdicts = [check["verdict"] for check in json.loads(done.out)["checks"]]
    assert verdicts == [*["unverifiable"] * 4, "error"]


@pytest.mark.slow
@pytest.mark.usefixtures("paper")
def test_options_reach_the_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "seconds", lambda forward, threads: 0.5)
    threads = str(torch.get_num_threads() + 1)
    done = call(
        "bench", "--table", "p/1", "--column", "cpu", "--rows", "same", "--against", "a", "--batch-size", "3",
        "--dtype", "bfloat16", "--threads", threads, "--pairs", "7",
        "--reading", "skip", "-f", "json",
    )  # fmt: skip
    (check,) = json.loads(done.out)["checks"]
    assert [(one["batch"], one["pairs"], one["variant"]) for one in check["evidence"]] == [(3, 7, "6")]
    found = check["evidence"][0]["settings"]
    assert {name: found[name] for name in ("against", "device", "dtype", "reading", "threads")} == {
        "against": "p/1/a",
        "device": "cpu",
        "dtype": "bfloat16",
        "reading": "skip",
        "threads": threads,
    }


@pytest.mark.usefixtures("paper")
def test_ctrl_c_is_exit_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(forward: object, threads: int) -> float:
        signal.raise_signal(signal.SIGINT)
        return 0.5

    monkeypatch.setattr(running, "seconds", stop)
    done = call("bench", "--table", "p/1", "--rows", "a", "-o", "json:r.json")
    assert (done.code, done.out) == (130, "")
    assert not Path("r.json").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "Missing option '--table'"),
        (("--table", "p"), "name one paper and its table, such as imlp/9"),
        (("--table", "/1"), "name one paper and its table"),
        (("--table", "p/2"), "p has no table '2'"),
        (("--table", "q/1"), "no spec file, folder or paper of that name"),
        (("--table", "p/1", "--rows", "x"), "no row with a number in 'cpu' is selected by --rows x"),
        (("--table", "p/1", "--column", "gpu"), "no row with a number in 'gpu'"),
        (("--table", "p/1", "--column", "params"), "no throughput column 'params'"),
        (("--table", "p/1", "--against", "x"), "--against: no row 'x'"),
        (("--table", "p/1", "--reading", "x"), "no reading is called 'x'"),
        (("--table", "p/1", "--pairs", "5"), "--pairs"),
        (("--table", "p/1", "--batch-size", "0"), "--batch-size"),
        (("--table", "p/1", "--threads", "0"), "--threads"),
        (("--table", "p/1", "--dtype", "int8"), "int8"),
        (("--table", "p/1", "-o", "json"), "write FORMAT:FILE"),
    ],
)
@pytest.mark.usefixtures("paper")
def test_what_cannot_be_done(arguments: tuple[str, ...], told: str) -> None:
    done = call("bench", *arguments)
    assert (done.code, done.out) == (2, "")
    assert told in done.err


@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no CUDA device here")
@pytest.mark.usefixtures("paper")
def test_a_gpu() -> None:
    done = call(
        "bench", "--table", "p/1", "--column", "cpu", "--rows", "b", "--device", "cuda", "--dtype", "float16",
        "--pairs", "6", "--batch-size", "2",
    )  # fmt: skip
    assert done.code == 0
    assert torch.cuda.get_device_name() in done.out
