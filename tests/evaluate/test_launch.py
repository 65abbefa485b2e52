"""Processes that are started here end with one exit code: that of the one that reports."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from imlp_audit.errors import BuildError
from imlp_audit.evaluate import launch as module
from imlp_audit.evaluate.launch import command_again, is_launched, launch


def python(code: str, *arguments: str) -> list[str]:
    return [
        sys.executable,
        "-S",
        "-c",
        f"import json, os, signal, sys, time; rank = int(os.environ['RANK']); {code}",
        *arguments,
    ]


def test_nothing_is_imported_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('imported')")
    monkeypatch.chdir(tmp_path)
    own, (python_, *rest) = "import json", command_again(["eval"])
    assert rest == ["-P", "-m", "imlp_audit", "eval"]
    assert subprocess.run([python_, "-S", *rest[:1], "-c", own], check=False).returncode == 0
    assert subprocess.run([python_, "-S", "-c", own], check=False, stderr=subprocess.DEVNULL).returncode == 1
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "-P" not in command_again([])  # this process would import it too


def test_each_knows_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert not is_launched()
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert not is_launched()
    write = "open(f'{sys.argv[1]}/{rank}', 'w').write(json.dumps(dict(os.environ)))"
    assert launch(3, python(write, str(tmp_path))) == 0
    told = [json.loads((tmp_path / str(rank)).read_text(encoding="utf-8")) for rank in range(3)]
    for rank, one in enumerate(told):
        assert (one["RANK"], one["LOCAL_RANK"], one["WORLD_SIZE"], one["LOCAL_WORLD_SIZE"]) == (str(rank),) * 2 + (
            "3",
        ) * 2
    assert len({(one["MASTER_ADDR"], one["MASTER_PORT"]) for one in told}) == 1
    assert not is_launched()


@pytest.mark.parametrize("rank", [0, 1])
def test_the_code_of_the_one_that_fails_is_the_code_of_all(rank: int) -> None:
    assert launch(2, python(f"sys.exit(3 if rank == {rank} else 0)")) == 3


def test_those_that_wait_for_one_that_failed_are_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_GRACE", 0.1)
    begun = time.monotonic()
    assert launch(2, python("sys.exit(2) if rank == 0 else time.sleep(60)")) == 2
    assert time.monotonic() - begun < 30


def test_a_signal_is_named() -> None:
    with pytest.raises(BuildError, match="process 2 of 2 was ended by SIGKILL; with --predictions, --resume"):
        launch(2, python("rank == 1 and os.kill(os.getpid(), signal.SIGKILL)"))


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_is_passed_on_once(tmp_path: Path, number: signal.Signals, code: int) -> None:
    wait = "signal.signal(signal.SIGINT, lambda *_: (open(f'{sys.argv[1]}/{rank}', 'a').write('x'), sys.exit(130)))"
    child = python(f"{wait}; open(f'{{sys.argv[1]}}/ready{{rank}}', 'w'); time.sleep(60)", str(tmp_path))
    own = (
        "from imlp_audit.evaluate.launch import launch; from imlp_audit.processes.interrupts import exit_on_interrupt;"
        f"exit_on_interrupt(); launch(2, {child!r})"
    )
    parent = subprocess.Popen([sys.executable, "-c", own], cwd=Path(__file__).parents[2])
    until = time.monotonic() + 60
    while not all((tmp_path / f"ready{rank}").exists() for rank in range(2)) and time.monotonic() < until:
        time.sleep(0.02)
    parent.send_signal(number)
    assert parent.wait(60) == code
    assert [(tmp_path / str(rank)).read_text(encoding="utf-8") for rank in range(2)] == ["x", "x"]


def test_processes_end_with_the_one_that_launched_them() -> None:
    """Even if that is killed, which it cannot pass on."""
    code = (
        "from imlp_audit.evaluate.launch import end_with_launcher; end_with_launcher();"
        "print('ready', flush=True); time.sleep(60)"
    )
    child = [sys.executable, "-c", f"import time; {code}"]
    own = f"from imlp_audit.evaluate.launch import launch; launch(2, {child!r})"
    with subprocess.Popen([sys.executable, "-c", own], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as launcher:
        assert launcher.stdout is not None
        assert [launcher.stdout.readline() for _ in range(2)] == [b"ready\n"] * 2
        begun = time.monotonic()
        launcher.kill()
        assert launcher.stdout.read() == b""  # it is open for as long as one of them is there
    assert time.monotonic() - begun < 30
