"""One run at a time writes to a folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from imlp_audit.errors import UsageError
from imlp_audit.evaluate import claim as module
from imlp_audit.evaluate.claim import claim_folder


def test_a_second_run_is_refused_until_the_first_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 0)
    with claim_folder(tmp_path / "p"):
        with (
            pytest.raises(UsageError, match=r"another run is writing to .*p; wait for it to end"),
            claim_folder(tmp_path / "p"),
        ):
            pass
        with claim_folder(tmp_path / "q"):
            pass
    with claim_folder(tmp_path / "p"):
        assert list((tmp_path / "p").iterdir()) == []


def test_the_claim_of_a_killed_run_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import sys; from pathlib import Path; from imlp_audit.evaluate.claim import claim_folder\n"
        "with claim_folder(Path(sys.argv[1])): print(flush=True); sys.stdin.read()"
    )
    monkeypatch.setattr(module, "_PATIENCE", 0)
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(UsageError, match="another run"), claim_folder(tmp_path):
            pass
        os.kill(other.pid, signal.SIGKILL)
    with claim_folder(tmp_path):
        pass


def test_what_is_no_folder_is_left_to_whoever_opens_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with claim_folder(tmp_path / "file"), claim_folder(tmp_path / "missing" / "p"):
        pass
