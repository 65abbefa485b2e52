"""Parts of an unfinished evaluation: read back whole or not at all, and only by the evaluation that wrote them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.errors import OutputError, UsageError
from imlp_audit.evaluate import parts as module
from imlp_audit.evaluate.parts import Journal, Parts, open_parts
from imlp_audit.evaluate.predictions import ModelAnswer

PINNED = {"checkpoint": "abc", "batch size": "4"}
BATCHES = {3: (ModelAnswer((1, 0), 0.75), None), 5: (ModelAnswer((0, 1), 1 / 3),)}


def opened(tmp_path: Path, resume: bool = False, batch_size: int = 4, **changes: str) -> Parts:
    return open_parts(tmp_path / "p.parts", {**PINNED, **changes}, batch_size, resume=resume)


def the_part(tmp_path: Path) -> Path:
    (path,) = (tmp_path / "p.parts").glob("*.part")
    return path


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    opened(tmp_path).write(BATCHES)
    opened(tmp_path, resume=True).write({0: (None,)})
    assert opened(tmp_path, resume=True).read_finished() == {**BATCHES, 0: (None,)}


@given(st.floats(width=32, min_value=0, max_value=1))
def test_probabilities_are_read_back_to_the_last_bit(value: float) -> None:
    sealed = module._pack({0: (ModelAnswer((0,), value),)}, 1)
    (answer,) = module._unpack(sealed, 1)[0]
    assert answer is not None
    assert math.copysign(1, answer.probability) == math.copysign(1, value)
    assert answer.probability == value


def test_no_beginning_of_a_part_is_read(tmp_path: Path) -> None:
    parts = opened(tmp_path)
    parts.write(BATCHES)
    path = the_part(tmp_path)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert parts.read_finished() == {}
    path.write_bytes(whole + b" ")
    assert parts.read_finished() == {}
    path.write_bytes(whole)
    assert parts.read_finished() == BATCHES


def test_no_part_with_a_changed_byte_is_read(tmp_path: Path) -> None:
    parts = opened(tmp_path)
    parts.write(BATCHES)
    path = the_part(tmp_path)
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert parts.read_finished() == {}, place


def test_other_files_are_not_read(tmp_path: Path) -> None:
    parts = opened(tmp_path)
    parts.write(BATCHES)
    whole = the_part(tmp_path)
    whole.rename(tmp_path / "p.parts" / ".00000003.part.x7f2")  # as a killed process leaves it
    assert parts.read_finished() == {}


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
    for text in ("{", "[]", "{}", json.dumps({"batch_size": "x", "pinned": {}})):
        (tmp_path / "p.parts" / "manifest.json").write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match=r"manifest\.json is damaged; remove the folder"):
            opened(tmp_path, resume=True)


def test_smaller_batches_make_the_earlier_ones_void_and_are_resumed(tmp_path: Path) -> None:
    parts = opened(tmp_path)
    parts.write(BATCHES)
    parts.restart(2)
    assert parts.read_finished() == {}
    parts.write({0: (None, None)})
    resumed = opened(tmp_path, resume=True)  # asks for 4 again, as the command did
    assert (resumed.batch_size, resumed.read_finished()) == (2, {0: (None, None)})


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="could not be created or read"):
        open_parts(tmp_path / "missing" / "p.parts", PINNED, 4, resume=False)


def test_removing_leaves_nothing(tmp_path: Path) -> None:
    parts = opened(tmp_path)
    parts.write(BATCHES)
    parts.remove()
    assert list(tmp_path.iterdir()) == []
    parts.remove()  # as another process may do at the same time


def test_a_journal_writes_now_and_then_and_at_the_end(tmp_path: Path) -> None:
    parts = opened(tmp_path)
    times = iter((0.0, 0.2, 0.9, 1.0, 1.0, 1.5, 1.5))  # told when it begins, for each batch, and after each part
    journal = Journal(parts, clock=lambda: next(times))
    for number in range(4):
        journal.add(number, (None,))
    assert parts.read_finished() == {0: (None,), 1: (None,), 2: (None,)}
    journal.close()
    assert parts.read_finished() == {0: (None,), 1: (None,), 2: (None,), 3: (None,)}
    assert len(list((tmp_path / "p.parts").glob("*.part"))) == 2


def test_a_journal_without_parts_writes_nothing() -> None:
    journal = Journal(None)
    journal.add(0, (None,))
    journal.close()
