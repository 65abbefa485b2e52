"""Kills evaluations at random instants and resumes each of them. Run as its own process, which forks them all.

    python -m tests.evaluate.killing FOLDER COUNT SEED ARGUMENTS...

ARGUMENTS are those of `imlp-audit eval` without its outputs; FOLDER is the folder to write to. An instant is a number
of function calls since the journal was opened, so it may lie anywhere, even in the middle of writing a file. Weights
and images are read once, before that, since reading leaves nothing behind. Prints as JSON what the undisturbed run
wrote, and for each killed run how it ended, what it left and what its resumption wrote.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path
from types import FrameType

import torch

from imlp_audit.cli.main import main
from imlp_audit.errors import UsageError
from imlp_audit.evaluate import run, task
from imlp_audit.evaluate.predictions import Journal, open_journal
from imlp_audit.evaluate.task import Request, Task
from tests.cli.running import call, forked

OUTPUTS = ("predictions.csv", "result.json")


def observed(folder: Path, count: int, seed: int, arguments: Sequence[str]) -> dict[str, object]:
    """Run once undisturbed, then kill and resume so many times."""
    outputs = [f"--predictions={folder / OUTPUTS[0]}", f"-ojson:{folder / OUTPUTS[1]}"]
    command = ["eval", *arguments, *outputs, "--workers=0", "--quiet"]
    _prepare_once(command)
    call(*command)  # imports what a run needs, so that no child does
    ended = forked(lambda: _run(command, on_end=lambda calls: _note(folder, calls)))
    undisturbed = _written(folder)
    calls = int((folder / "calls").read_text(encoding="utf-8"))
    instants = random.Random(seed)
    killed = [_killed(folder, command, instants.randrange(calls)) for _ in range(count)]
    return {"ended": ended, "undisturbed": undisturbed, "killed": killed}


def _prepare_once(command: Sequence[str]) -> None:
    """Give every run from now on its model and images without reading them again."""
    held: list[tuple[Task, ExitStack]] = []  # the model is as it is while its stack is open

    def capture(request: Request, device: torch.device, stack: ExitStack) -> Task:
        kept = ExitStack()
        held.append((task.prepare(request, device, kept), kept))
        raise UsageError("that is all")

    setattr(run, "prepare", capture)  # noqa: B010
    call(*command)
    alone = replace(held[0][0].computing, threads=1)
    prepare = lambda request, device, stack: replace(held[0][0], request=request, computing=alone)  # noqa: E731
    setattr(run, "prepare", prepare)  # noqa: B010


def _killed(folder: Path, command: Sequence[str], instant: int) -> dict[str, object]:
    for name in OUTPUTS:
        (folder / name).unlink(missing_ok=True)
    journal = folder / f"{OUTPUTS[0]}.unfinished"
    journal.unlink(missing_ok=True)
    ended = forked(lambda: _run(command, instant))
    left = journal.read_bytes().count(b"\n") if journal.exists() else 0
    resumed = forked(lambda: _run(command))
    return {"ended": ended, "left": left, "resumed": resumed, "wrote": _written(folder)}


def _written(folder: Path) -> list[str]:
    return [(folder / name).read_text(encoding="utf-8") for name in OUTPUTS]


def _note(folder: Path, calls: int) -> None:
    (folder / "calls").write_text(str(calls), encoding="utf-8")


def _run(command: Sequence[str], instant: int | None = None, on_end: Callable[[int], None] | None = None) -> None:
    """Run the command line; after so many calls since it opened its journal, it is killed as by `kill -9`."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")
        if calls == instant:
            os.kill(os.getpid(), signal.SIGKILL)

    end = os._exit

    def opening(path: Path, fingerprint: dict[str, str], leads: bool) -> AbstractContextManager[Journal]:
        sys.setprofile(count)
        return open_journal(path, fingerprint, leads)

    def leave(code: int) -> None:
        sys.setprofile(None)
        if on_end is not None:
            on_end(calls)
        end(code)

    setattr(run, "open_journal", opening)  # noqa: B010  # in this child only
    setattr(os, "_exit", leave)  # noqa: B010
    sys.argv = ["imlp-audit", *command]
    main()


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps(observed(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])))
