"""Kills a command at random instants, and runs it again on what it left. Run as its own process, which forks them all.

    python -m tests.cli.killing FOLDER COUNT SEED ARGUMENTS...

The command runs in FOLDER. An instant is a number of function calls after a file was created, since two runs differ in
calls; every second one lies before it is renamed. Prints as JSON the undisturbed run, and for each killed one how it
ended, which files it left, and the same for its repetition.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

import torch

from imlp_audit.cli.main import main
from imlp_audit.count import models  # noqa: F401  # so that no child has to
from imlp_audit.report.files import _create
from tests.cli.running import forked

Instant = tuple[int, int]  # files that were created, and calls since the last one was


def observed(folder: Path, count: int, seed: int, command: Sequence[str]) -> list[dict[str, object]]:
    """Run once undisturbed, then kill and repeat so many times."""
    original, note = folder.with_name("original"), folder.with_name("calls")
    folder.rename(original)
    _restore(original, folder)
    forked(lambda: _run(folder, command))  # measures what the cache keeps
    undisturbed = _observe(original, folder, command, note=note)
    created, renamed = json.loads(note.read_text(encoding="utf-8"))
    chance = random.Random(seed)
    return [undisturbed, *(_observe(original, folder, command, _draw(chance, number, created, renamed))
                           for number in range(count))]  # fmt: skip


def _draw(chance: random.Random, number: int, created: Sequence[int], renamed: Sequence[int]) -> Instant:
    """Return an instant: after a file was created, and in every second one before it is renamed."""
    if number % 2:
        file = number // 2 % len(created)
        return file + 1, chance.randint(1, renamed[file] - created[file])
    file = chance.randrange(len(created))
    return file, chance.randrange(created[file] - ([0, *created][file]))


def _observe(
    original: Path, folder: Path, command: Sequence[str], instant: Instant | None = None, note: Path | None = None
) -> dict[str, object]:
    _restore(original, folder)
    ended = forked(lambda: _run(folder, command, instant, note))
    left = _files(folder)
    repeated = forked(lambda: _run(folder, command))
    return {"ended": ended, "left": left, "repeated": repeated, "wrote": _files(folder)}


def _restore(original: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(original, folder)


def _files(folder: Path) -> dict[str, str]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def _run(folder: Path, command: Sequence[str], instant: Instant | None = None, note: Path | None = None) -> None:
    """Run the command line; at an instant it is killed as by `kill -9`. Note when files were created and renamed."""
    calls, created, renamed = 0, list[int](), list[int]()

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        if event in ("call", "c_call"):
            calls += 1
            since = calls - created[-1] if created else calls
            if instant is not None and (len(created), since) >= instant:
                os.kill(os.getpid(), signal.SIGKILL)
            if frame.f_code is _create.__code__ and argument is os.open:
                created.append(calls)
            if argument is os.replace and len(renamed) < len(created):
                renamed.append(calls)

    end = os._exit

    def leave(code: int) -> None:
        sys.setprofile(None)
        if note is not None:
            note.write_text(json.dumps([created, renamed]), encoding="utf-8")
        end(code)

    setattr(os, "_exit", leave)  # noqa: B010  # in this child only
    os.chdir(folder)
    os.dup2(2, 1)
    sys.argv = ["imlp-audit", *command]
    sys.setprofile(count)
    main()


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps(observed(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])))
