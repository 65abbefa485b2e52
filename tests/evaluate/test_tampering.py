"""A folder of an unfinished evaluation that somebody tampered with is refused, and nothing in it is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.errors import UsageError
from imlp_audit.evaluate.part_file import BatchAnswers, ResumableRun
from imlp_audit.evaluate.parts import open_parts
from imlp_audit.evaluate.predictions import ModelAnswer
from tests.evaluate.tampering import PARTS, TAMPERED

RUN = ResumableRun({"checkpoint": "abc", "batch size": "16"}, images=80, classes=10)
BATCH: BatchAnswers = (None, *(ModelAnswer((0, 3, 5, 7, 9), 0.5) for _ in range(15)))


def look(folder: Path) -> dict[str, bytes | None]:
    """Return what every name in a folder holds, without waiting for a pipe."""
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


@pytest.mark.parametrize("way", TAMPERED)
def test_tampering_is_refused_by_name(tmp_path: Path, way: str) -> None:
    folder, (name, words, tamper) = tmp_path / "p.csv.parts", TAMPERED[way]
    parts = open_parts(folder, RUN, 16, resume=False)
    parts.write({0: BATCH})
    parts.write({1: BATCH})
    tamper(folder)
    before = look(tmp_path)
    with pytest.raises(UsageError) as refused:
        open_parts(folder, RUN, 16, resume=True)
    place = folder if name == folder.name else folder / name
    assert str(refused.value).startswith(f"{place} ")
    assert words in str(refused.value)
    assert any(advice in str(refused.value) for advice in ("remove", "move it elsewhere"))
    assert str(refused.value).isprintable()
    assert look(tmp_path) == before


def test_a_gap_is_computed_again(tmp_path: Path) -> None:
    parts = open_parts(tmp_path / "p.csv.parts", RUN, 16, resume=False)
    parts.write({0: BATCH})
    parts.write({2: BATCH})
    assert PARTS[1] not in {path.name for path in parts.folder.iterdir()}
    assert open_parts(parts.folder, RUN, 16, resume=True).read_finished() == {0: BATCH, 2: BATCH}


@pytest.mark.parametrize("place", ["a link", "a file"])
def test_a_folder_that_is_none(tmp_path: Path, place: str) -> None:
    folder = tmp_path / "p.csv.parts"
    folder.symlink_to(tmp_path) if place == "a link" else folder.write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match=r"p\.csv\.parts is not a folder.*; remove it"):
        open_parts(folder, RUN, 16, resume=True)


def test_what_is_not_ours_is_kept_at_the_end(tmp_path: Path) -> None:
    parts = open_parts(tmp_path / "p.csv.parts", RUN, 16, resume=False)
    parts.write({0: BATCH})
    (parts.folder / "notes.txt").write_text("mine", encoding="utf-8")
    parts.remove()
    assert [path.name for path in parts.folder.iterdir()] == ["notes.txt"]
