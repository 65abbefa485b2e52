"""Runs `imlp-audit count` on the repositories of docs/issues.md, and compares what it says with what is written.

    python -m benchmarks.issues FOLDER [NAME]    # clones of issues.yaml's commits are in FOLDER; NAME runs one alone

Clone each repository, check out its commit, and `pip install` what its line `pip` names: nothing is downloaded here.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import yaml

COMMAND = Path(sys.executable).with_name("imlp-audit")


@dataclass(frozen=True)
class Issue:
    """An issue as issues.yaml has it."""

    issue: str
    commit: str
    folder: str
    count: str
    parameters: int | None
    named: str | None
    cause: str | None
    pip: str | None = None


@dataclass(frozen=True)
class Counted:
    """What `count` said: the parameters and the first cause, or what went wrong."""

    parameters: int | None
    named: str | None
    chance: float | None
    problem: str = ""


def count(issue: Issue, clones: Path) -> Counted:
    """Run an issue's command in its clone."""
    command = [str(COMMAND), "count", *shlex.split(issue.count), "--format", "json", "--no-progress"]
    ended = subprocess.run(command, cwd=clones / issue.folder, capture_output=True, text=True, check=False)
    if ended.returncode not in (0, 1):  # all printed numbers follow, or one does not
        return Counted(None, None, None, ended.stderr.strip().rpartition("imlp-audit: ")[2])
    found = json.loads(ended.stdout)
    for cause in (cause for number in found["printed"] for cause in number["causes"]):
        return Counted(found["parameters"]["all"], cause["text"], cause["chance"])
    return Counted(found["parameters"]["all"], None, None)


def main(folder: str, *names: str) -> None:
    """Print a line for each issue, and how many ran and came out as written."""
    issues = [Issue(**one) for one in yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))]
    chosen = [one for one in issues if not names or one.folder in names]
    ran = same = 0
    for issue in chosen:
        began = time.perf_counter()
        found = count(issue, Path(folder))
        seconds = time.perf_counter() - began
        as_written = (found.parameters, found.named) == (issue.parameters, issue.named)
        ran += not found.problem
        same += as_written
        state = ("not run" if found.problem else "ran", "as written" if as_written else "DIFFERS")
        chance = "" if found.chance is None else f" ({100 * found.chance:.2g} %)"
        said = found.problem or f"{found.parameters:,} parameters, {found.named or 'no cause'}{chance}"
        print(f"{state[0]:8}{state[1]:11}{seconds:4.0f} s  {issue.issue}: {said}", flush=True)
    print(f"{ran} of {len(chosen)} ran, {same} came out as written")


if __name__ == "__main__":
    main(*sys.argv[1:])
