"""A command that is killed leaves whole files, and the next one makes up for it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .papers import write_all
from .running import environment

OUTPUTS = ("-ojson:r.json", "-omarkdown:r.md", "-or.html")
COMMANDS = {
    "verify": ("verify", "specs/imlp_row", "specs/findings", "--jobs=0", *OUTPUTS),
    "baseline": ("baseline", "specs/imlp_row", "specs/findings", "--draft"),
    "report": ("report", "specs/imlp_row", "specs/findings", "--dir=reports"),
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="forks processes that have imported torch")
@pytest.mark.parametrize("name", COMMANDS)
def test_killed_at_some_instants_and_run_again(tmp_path: Path, name: str) -> None:
    before = {path.name for path in write_all(tmp_path / "here").rglob("*.yaml")}
    command = [sys.executable, "-m", "tests.cli.killing", str(tmp_path / "here"), "12", "0", *COMMANDS[name]]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[2], env=environment(IMLP_AUDIT_CACHE=str(tmp_path / "cache")),
        stdout=subprocess.PIPE, encoding="utf-8", timeout=240, check=True,
    )  # fmt: skip
    whole, *killed = json.loads(done.stdout)
    assert whole["ended"] in (0, 1)
    assert len(whole["wrote"]) > len(before)
    assert all(one["ended"] == -9 and one["repeated"] == whole["ended"] for one in killed)
    unfinished = [[name for name in one["left"] if Path(name).name.startswith(".imlp-audit.")] for one in killed]
    assert any(unfinished)
    for one, names in zip(killed, unfinished, strict=True):
        assert {name: one["left"][name] for name in one["left"].keys() - names}.items() <= whole["left"].items()
        assert one["wrote"] == whole["wrote"]  # nothing is left behind either
    assert len({len(one["left"]) for one in killed}) > 2  # killed early, late and between
