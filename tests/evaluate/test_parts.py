"""Parts of an unfinished evaluation: read back whole or not at all, and only by the evaluation that wrote them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.errors import OutputError, UsageError
from imlp_audit.evaluate.part_file import BatchAnswers, KeptPart, ResumableRun, read_part, write_part
from imlp_audit.evaluate.parts import Journal, Parts, open_parts
from imlp_audit.evaluate.predictions import ModelAnswer

PINNED = {"checkpoint": "abc", "batch size": "2"}
BATCHES: dict[int, BatchAnswers] = {3: (ModelAnswer((1, 0), 0.75), None), 5: (ModelAnswer((0, 1), 1 / 3),)}
IMAGES = 11  # so batch 5 of 2 images has one


def run(**changes: str) -> ResumableRun:
    return ResumableRun({**PINNED, **changes}, IMAGES, classes=2)


def opened(tmp_path: Path, resume: bool = False, batch_size: int = 2, **changes: str) -> Parts:
    return open_parts(tmp_path / "p.parts", run(**changes), batch_size, resume=resume)


def the_part(tmp_path: Path) -> Path:
    (path,) = (tmp_path / "p.parts").glob("*.part")
    return path


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    opened(tmp_path).write(BATCHES)
    opened(tmp_path, resume=True).write({0: (None, None)})
    assert opened(tmp_path, resume=True).read_finished() == {**BATCHES, 0: (None, None)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("parts")


@given(value=st.floats(width=32, min_value=0, max_value=1))
def test_probabilities_are_read_back_to_the_last_bit(folder: Path, value: float) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda descriptor: None)
        write_part(folder, KeptPart(1, {0: (ModelAnswer((0, 1), value),)}), run())
    (answer,) = read_part(folder / "00000000.part", run()).batches[0]
    assert answer is not None
    assert math.copysign(1, answer.probability) == math.copysign(1, value)
    assert answer.probability == value


def test_no_beginning_of_a_part_is_read(tmp_path: Path) -> None:
    parts = opened(tmp_path)
    parts.write(BATCHES)
    path = the_part(tmp_path)
    whole = path.read_bytes()
    for wrong in (*(whole[:length] for length in range(len(whole))), whole + b" "):
        path.write_bytes(wrong)
        with pytest.raises(UsageError, match=r"00000003\.part is damaged: it was cut short.*; remove it"):
            parts.read_finished()
    path.write_bytes(whole)
    assert parts.read_finished() == BATCHES


def test_no_part_with_a_changed_byte_is_read(tmp_path: Path) -> None:
    parts = opened(tmp_path)
    parts.write(BATCHES)
    path = the_part(tmp_path)
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(UsageError, match="or changed after it was written"):
            parts.read_finished()


def test_unfinished_files_are_not_read(tmp_path: Path) -> None:
    parts = opened(tmp_path)
    parts.write(BATCHES)
    whole = the_part(tmp_path)
    whole.rename(tmp_path / "p.parts" / ".imlp-audit.x7f2")  # as a killed process leaves it
    assert parts.read_finished() == {}
    parts.remove()
    assert not parts.folder.exists()


def test_an_earlier_run_is_not_resumed_without_resume(tmp_path: Path) -> None:
    opened(tmp_path)
    with pytest.raises(UsageError, match="add --resume to continue it, or remove the folder"):
        opened(tmp_path)


def test_a_resume_without_an_earlier_run_begins(tmp_path: Path) -> None:
    assert opened(tmp_path, resume=True).read_finished() == {}


def test_a_folder_without_a_manifest_is_a_beginning(tmp_path: Path) -> None:
    (tmp_path / "p.parts").mkdir()  # killed right after it was made
    assert opened(tmp_path).read_finished() == {}


def test_another_evaluation_is_refused_by_what_differs(tmp_path: Path) -> None:
    opened(tmp_path)
    with pytest.raises(UsageError, match=r"checkpoint was abc, is xyz; limit was not given, is 10\. Repeat"):
        opened(tmp_path, resume=True, checkpoint="xyz", limit="10")


def test_a_damaged_manifest_is_refused(tmp_path: Path) -> None:
    opened(tmp_path)
    for text in ("", "{", "[]", "{}", "[" * 100_000, json.dumps({"batch_size": "x", "pinned": {}, "format": 2})):
        (tmp_path / "p.parts" / "manifest.json").write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match=r"manifest\.json is damaged; remove it"):
            opened(tmp_path, resume=True)


def test_smaller_batches_make_the_earlier_ones_void_and_are_resumed(tmp_path: Path) -> None:
    parts = opened(tmp_path)
    parts.write(BATCHES)
    parts.restart(1)
    assert parts.read_finished() == {}
    parts.write({0: (None,)})
    resumed = opened(tmp_path, resume=True)  # asks for 2 again, as the command did
    assert (resumed.batch_size, resumed.read_finished()) == (1, {0: (None,)})


def test_a_lost_manifest_loses_no_part(tmp_path: Path) -> None:
    opened(tmp_path).write(BATCHES)
    (tmp_path / "p.parts" / "manifest.json").unlink()
    with pytest.raises(UsageError, match="add --resume"):
        opened(tmp_path)
    with pytest.raises(UsageError, match=r"00000003\.part belongs to another evaluation"):
        opened(tmp_path, resume=True, checkpoint="xyz")
    (tmp_path / "p.parts" / "manifest.json").unlink()
    assert opened(tmp_path, resume=True).read_finished() == BATCHES


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="could not be created or read"):
        open_parts(tmp_path / "missing" / "p.parts", run(), 4, resume=False)


def test_removing_leaves_nothing(tmp_path: Path) -> None:
    parts = opened(tmp_path)
    parts.write(BATCHES)
    parts.remove()
    assert list(tmp_path.iterdir()) == []
    parts.remove()  # as another process may do at the same time


def test_a_journal_writes_now_and_then_and_at_the_end(tmp_path: Path) -> None:
    parts = opened(tmp_path)
    batches = dict.fromkeys(range(4), (None, None))
    times = iter((0.0, 0.2, 0.9, 1.0, 1.0, 1.5, 1.5))  # told when it begins, for each batch, and after each part
    journal = Journal(parts, clock=lambda: next(times))
    for number in range(4):
        journal.add(number, (None, None))
    assert parts.read_finished() == {number: batches[number] for number in range(3)}
    journal.close()
    assert parts.read_finished() == batches
    assert len(list((tmp_path / "p.parts").glob("*.part"))) == 2


def test_a_journal_without_parts_writes_nothing() -> None:
    journal = Journal(None)
    journal.add(0, (None,))
    journal.close()
