"""Files appear whole, and what a killed process left half-written goes with the next file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from imlp_audit.errors import OutputError
from imlp_audit.report.files import write_whole

HANG = """
import sys
from pathlib import Path
from imlp_audit.report.unfinished import unfinished_file
with unfinished_file(Path(sys.argv[1])):
    print("ready", flush=True)
    sys.stdin.read()
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="has no such locks")
def test_what_a_killed_writer_left_goes_with_the_next_file_and_what_is_being_written_stays(tmp_path: Path) -> None:
    others = [".imlp-audit.abcdef12.txt", ".imlp-audit.yaml"]
    for name in others:
        (tmp_path / name).write_text("mine", encoding="utf-8")
    command = [sys.executable, "-c", HANG, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        (unfinished,) = {*names(tmp_path)} - {*others}
        write_whole(tmp_path / "a", "a")
        assert names(tmp_path) == sorted([*others, unfinished, "a"])
        writer.kill()
    write_whole(tmp_path / "b", "b")
    assert names(tmp_path) == [*others, "a", "b"]


def test_a_file_that_could_not_be_written_leaves_the_old_one_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_whole(tmp_path / "a", "old")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("imlp_audit.report.files.os.fsync", fail)
    with pytest.raises(OutputError, match="No space left on device"):
        write_whole(tmp_path / "a", "new")
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text(encoding="utf-8") == "old"
