"""The hostile corpus: every file is refused, for a reason that says what to do, before it could do or cost anything."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from imlp_audit.checkpoint.contents import parse_states
from imlp_audit.errors import CheckpointError
from tests.checkpoint.reading import read_state
from tests.cli.running import call

from .hostile import CORPUS, SENTINEL

ROOT = Path(__file__).parents[2]
ADVICE = (
    "download", "save", "unpack", "give", "split", "do not use", "git lfs pull", ".contiguous()",
    "symbolic links", "could run code", "torch.save(",
)  # fmt: skip


@pytest.mark.parametrize("name", CORPUS)
def test_each_is_refused_for_its_reason(hostile: Path, name: str) -> None:
    with pytest.raises(CheckpointError) as refused:
        parse_states(hostile / name)
    told = str(refused.value)
    assert told.startswith(f"{hostile / name} ")
    assert CORPUS[name][1] in told
    assert any(words in told for words in ADVICE)
    assert told.isprintable()
    assert len(told) < 400 + len(str(hostile))
    assert not (hostile / SENTINEL).exists()


@pytest.mark.parametrize("name", CORPUS)
def test_none_is_read(hostile: Path, name: str) -> None:
    with pytest.raises(CheckpointError) as refused:
        read_state(hostile / name)
    assert CORPUS[name][1] in str(refused.value)
    assert not (hostile / SENTINEL).exists()


def test_each_is_refused_in_time_and_memory(hostile: Path) -> None:
    """2 s of the processor's time, and 300 MB in all above what the process had before the first one."""
    command = [sys.executable, "-m", "tests.checkpoint.limits", str(hostile)]
    done = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True, timeout=120).stdout)
    files = done["files"]
    assert set(CORPUS) - set(files) == {"nowhere.pth"}
    assert {name for name, one in files.items() if one["told"] == "accepted"} == set()
    assert max(one["seconds"] for one in files.values()) < 2
    assert sum(one["bytes"] for one in files.values()) < 300e6
    assert not done["torch"]
    assert not (hostile / SENTINEL).exists()


@pytest.mark.parametrize("name", list(CORPUS)[::12])  # its fast sibling above refuses every file
def test_the_command_line_refuses_them(hostile: Path, name: str) -> None:
    done = call("inspect", str(hostile / name))
    assert (done.code, done.out) == (2, "")
    assert CORPUS[name][1] in done.err
    assert done.err.removesuffix("\n").isprintable()
    assert not (hostile / SENTINEL).exists()
