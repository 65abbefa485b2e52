"""What the process does with its streams: terminals, closed pipes, full disks."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from .papers import TOP1, write
from .running import SCRIPT, Outcome, environment, spawn

ESCAPE = "\x1b["


def on_terminals(*arguments: str, cwd: Path, **changes: str) -> Outcome:
    """Run with stdout and stderr on a pseudo-terminal each."""
    (out, out_end), (err, err_end) = pty.openpty(), pty.openpty()
    with subprocess.Popen(
        [SCRIPT, *arguments], cwd=cwd, env=environment(TERM="xterm-256color", **changes), stdout=out_end, stderr=err_end
    ) as process:
        os.close(out_end)
        os.close(err_end)
        with ThreadPoolExecutor() as readers:  # at the same time: a terminal that nobody reads stops who writes to it
            texts = list(readers.map(_drain, (out, err)))
    return Outcome(process.returncode, *texts)


def _drain(end: int) -> str:
    parts = []
    with suppress(OSError):  # Linux ends a terminal's stream so
        while part := os.read(end, 65536):
            parts.append(part)
    os.close(end)
    return b"".join(parts).decode()


@pytest.mark.slow
def test_a_terminal_gets_colours_and_progress(papers: Path) -> None:
    done = on_terminals("verify", "clean", "--no-cache", cwd=papers, COLUMNS="80")
    assert done.code == 0
    assert f"{ESCAPE}32m" in done.out  # green: reproduced
    assert "counting" in done.err
    assert "counting" not in done.out


def test_no_progress_where_it_is_not_wanted(papers: Path) -> None:
    for option in ("--no-progress", "-q"):
        assert on_terminals("verify", "scores", option, cwd=papers).err == ""


def test_no_colour_leaves_a_terminal_plain(papers: Path) -> None:
    done = on_terminals("verify", "findings", "--no-progress", cwd=papers, NO_COLOR="1")
    assert "findings/1/b/top1.delta" in done.out
    assert ESCAPE not in done.out


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A paper whose list of checks is longer than what a pipe holds, with findings."""
    root = tmp_path_factory.mktemp("many")
    rows = [f"{{id: a{i}, label: A, printed: {{top1: 10.0}}}}" for i in range(1500)]
    delta = "{id: b, label: B, baseline: a0, printed: {top1: 20.0}, delta: {top1: 50%}}"
    write(root, "many", TOP1, *rows, delta)
    return root


@pytest.mark.daily(1)
@pytest.mark.parametrize(
    "arguments",
    [("list",), ("verify", "--no-cache", "-f", "json"), ("verify", "--no-cache", "-f", "html"), ("--help",)],
)
@pytest.mark.parametrize("read", [0, 1])
def test_a_closed_pipe_ends_quietly(many: Path, arguments: tuple[str, ...], read: int) -> None:
    process = subprocess.Popen(
        [SCRIPT, *arguments], cwd=many, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    for _ in range(read):
        assert process.stdout.readline()
    process.stdout.close()
    told = process.stderr.read()
    process.stderr.close()
    assert (process.wait(60), told) == (0, b"")


@pytest.mark.daily(1)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [("list",), ("verify", "scores"), ("--help",)])
def test_a_full_disk_is_reported_in_words(papers: Path, arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [SCRIPT, *arguments], cwd=papers, stdout=full, stderr=subprocess.PIPE, encoding="utf-8", check=False
        )
    assert done.returncode in (2, 3)
    assert done.stderr.startswith("imlp-audit: ")
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


CLOSING = """
import os
for stream in {closed}:
    os.close(stream)
from imlp_audit.processes.streams import open_closed_streams
open_closed_streams()
import pathlib, subprocess
first = os.open(os.devnull, os.O_RDONLY)
child = subprocess.run(["sh", "-c", "echo out; echo err >&2"], close_fds=False)
pathlib.Path("seen").write_text(f"{{first > 2}} {{child.returncode}}")
"""


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (1, 2), (0, 1, 2)])
def test_the_number_of_a_closed_stream_goes_to_nothing_else(tmp_path: Path, closed: tuple[int, ...]) -> None:
    spawn(cwd=tmp_path, command=(sys.executable, "-c", CLOSING.format(closed=closed)))
    assert (tmp_path / "seen").read_text(encoding="utf-8") == "True 0"


NET = """
from torch import nn

def net():
    print("hello")
    return nn.Sequential(nn.Flatten(), nn.Linear(192, 2))
"""


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["2>&-", ">&- 2>&-"])
def test_a_model_of_ones_own_is_counted_without_streams(tmp_path: Path, closed: str) -> None:
    model = "{python: {file: net.py, name: net, input: [3, 8, 8]}}"
    row = f"{{id: a, label: A, model: {model}, printed: {{params: 386}}}}"
    write(tmp_path, "own", 'params: {measure: parameters, unit: "", heading: Parameters}', row)
    (tmp_path / "specs" / "own" / "net.py").write_text(NET, encoding="utf-8")
    command = f"exec '{SCRIPT}' verify own --trust-code --no-cache --jobs 2 -o json:r.json {closed}"
    spawn(cwd=tmp_path, command=("sh", "-c", command))
    (check,) = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["checks"]
    assert check["verdict"] == "reproduced"  # 192 x 2 weights, 2 biases


def test_a_folder_that_was_removed_is_named(tmp_path: Path) -> None:
    gone = "import os, sys; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone'); "
    run = "sys.argv = ['imlp-audit', 'list', 'imlp']; from imlp_audit.__main__ import main; main()"
    done = spawn(cwd=tmp_path, command=(sys.executable, "-c", gone + run))
    assert (done.code, done.out) == (3, "")
    assert done.err == "imlp-audit: [Errno 2] No such file or directory (was the current folder removed?)\n"
