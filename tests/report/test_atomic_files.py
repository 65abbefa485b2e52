"""Files appear whole or not at all, with the mode that their user wants."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from imlp_audit.errors import OutputError
from imlp_audit.report.atomic_files import write_whole


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_that_could_not_be_written_leaves_the_old_one_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_whole(tmp_path / "a", "old")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("imlp_audit.report.atomic_files.os.fsync", fail)
    with pytest.raises(OutputError, match="No space left on device"):
        write_whole(tmp_path / "a", "new")
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text(encoding="utf-8") == "old"


@pytest.fixture
def careful() -> Iterator[None]:
    """A user whose new files are for the group to read, and for nobody else."""
    before = os.umask(0o027)
    yield
    os.umask(before)


@pytest.mark.skipif(sys.platform == "win32", reason="has no such modes")
@pytest.mark.parametrize(("mode", "expected"), [(None, 0o640), (0o444, 0o444), (0o600, 0o600), (0o666, 0o666)])
def test_a_new_file_has_the_users_mode_and_an_old_one_keeps_its_own(
    careful: None, tmp_path: Path, mode: int | None, expected: int
) -> None:
    path = tmp_path / "a"
    if mode is not None:
        path.touch()
        path.chmod(mode)
    write_whole(path, "new")
    assert path.stat().st_mode & 0o777 == expected
    assert os.umask(0o027) == 0o027
