"""Interrupts: the process ends with 130 at once, and files are whole or absent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from imlp_audit.processes.interrupts import exit_on_interrupt, hold_interrupts, on_interrupt

from .running import Outcome, call, environment, forget_interrupts

# Runs the command line, and interrupts it where a module is about to be imported. Torch swallows a KeyboardInterrupt
# while it imports numpy, and numpy can't be imported a second time: the run would go on without it.
DRIVER = """
import os, signal, sys
from imlp_audit.__main__ import main

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == point:
            os.kill(os.getpid(), signal.SIGINT)

point = sys.argv.pop()
sys.meta_path.insert(0, Finder())
main()
"""


def interrupt(*_: object) -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(
    "module", ["typer", "pydantic", "imlp_audit.spec.load", "numpy", pytest.param("timm", marks=pytest.mark.slow)]
)
def test_an_interrupt_while_a_module_is_imported_ends_the_process(papers: Path, tmp_path: Path, module: str) -> None:
    arguments = ["verify", "imlp_row", "--no-cache", "-o", f"json:{tmp_path / 'r.json'}"]
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, *arguments, module],
        cwd=papers, env=environment(), capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_ends_quietly_and_leaves_old_files(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "r.md").write_text("old", encoding="utf-8")
    monkeypatch.setattr("imlp_audit.pipeline._measure", interrupt)
    assert call("verify", "clean", "--no-cache", "-o", "markdown:r.md") == Outcome(130, "", "")
    assert (here / "r.md").read_text(encoding="utf-8") == "old"


def test_an_interrupt_while_a_file_is_replaced_waits_for_it(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace = Path.replace

    def interrupt_and_replace(path: Path, target: Path) -> Path:
        interrupt()
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", interrupt_and_replace)
    assert call("verify", "findings", "-q", "--no-cache", "-o", "json:r.json", "-o", "markdown:r.md").code == 130
    assert sorted(path.name for path in here.iterdir()) == ["r.json", "specs"]


@pytest.fixture
def ending(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Interrupts as in a process of our own, except that it doesn't end: a list of the exit codes it would end with."""
    codes: list[int] = []
    before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    monkeypatch.setattr(os, "_exit", codes.append)
    exit_on_interrupt()
    yield codes
    for number, handler in before.items():
        signal.signal(number, handler)
    forget_interrupts()


def test_actions_run_before_the_end_the_last_one_first(ending: list[int]) -> None:
    ran: list[str] = []

    def fail() -> None:
        raise OSError("no space")

    with on_interrupt(lambda: ran.append("first")), on_interrupt(fail), on_interrupt(lambda: ran.append("last")):
        interrupt()
    assert (ran, ending) == (["last", "first"], [130])


def test_a_second_interrupt_does_not_cut_the_actions_short(ending: list[int]) -> None:
    ran: list[str] = []

    def save() -> None:
        interrupt()
        ran.append("saved")

    with on_interrupt(save):
        interrupt()
    assert (ran, ending) == (["saved"], [130])


def test_actions_that_are_over_are_not_run(ending: list[int]) -> None:
    ran: list[str] = []
    with on_interrupt(lambda: ran.append("over")):
        pass
    interrupt()
    assert (ran, ending) == ([], [130])


def test_an_interrupt_waits_for_every_hold(ending: list[int]) -> None:
    with hold_interrupts():
        with hold_interrupts():
            interrupt()
        assert ending == []
    assert ending == [130]


def test_no_hold_begins_once_an_interrupt_has_arrived(ending: list[int]) -> None:
    begun: list[str] = []

    def hold(name: str) -> None:
        with hold_interrupts():
            begun.append(name)

    with on_interrupt(lambda: hold("by an action")), hold_interrupts():
        interrupt()
        late = threading.Thread(target=hold, args=("late",), daemon=True)
        late.start()
        with hold_interrupts():
            begun.append("inner")
        late.join(0.05)
        assert (late.is_alive(), ending) == (True, [])
    assert (begun, ending) == (["inner", "by an action"], [130])


def test_a_process_that_ignores_interrupts_goes_on_ignoring_them() -> None:
    before, other = signal.signal(signal.SIGINT, signal.SIG_IGN), signal.getsignal(signal.SIGTERM)
    try:
        exit_on_interrupt()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
        signal.signal(signal.SIGTERM, other)


def send_mask(_given: None, send: Callable[[bool], None]) -> None:
    send(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))


FIRST_WORKER = """
from imlp_audit.processes.workers import Pool
from tests.cli.test_interrupts import send_mask
print(*Pool().run(send_mask, None))
"""


def test_the_first_worker_of_a_process_is_started_with_interrupts_blocked() -> None:
    """Multiprocessing starts its tracker with the first process, and unblocks interrupts when it has."""
    command = [sys.executable, "-c", FIRST_WORKER]
    assert subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout == "True\n"
