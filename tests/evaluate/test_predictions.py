"""Files of predictions, and the journal of an unfinished run: what is read back, dropped and refused."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from imlp_audit.errors import OutputError, UsageError
from imlp_audit.evaluate.predictions import (
    BatchAnswers,
    ModelAnswer,
    Prediction,
    check_ending,
    open_journal,
    write_predictions,
)
from imlp_audit.spec.columns import Metric

PREDICTIONS = (
    Prediction("a/1.png", (3,), ModelAnswer((3, 1, 0, 2, 4), 0.5)),
    Prediction('b/with, "signs".png', (0, 2), ModelAnswer((1, 2, 0, 3, 4), 0.10000000149011612)),
    Prediction("c/broken.png", (1,), None),
)
COLUMNS = ["image", "labels", "top5", "probability", "readable"]


def test_csv_reads_back(tmp_path: Path) -> None:
    write_predictions(tmp_path / "p.csv", PREDICTIONS)
    with (tmp_path / "p.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [
        COLUMNS,
        ["a/1.png", "3", "3 1 0 2 4", "0.5", "true"],
        ['b/with, "signs".png', "0 2", "1 2 0 3 4", "0.10000000149011612", "true"],
        ["c/broken.png", "1", "", "", "false"],
    ]


def test_equal_predictions_are_equal_bytes(tmp_path: Path) -> None:
    write_predictions(tmp_path / "p.csv", PREDICTIONS)
    first = (tmp_path / "p.csv").read_bytes()
    write_predictions(tmp_path / "p.csv", PREDICTIONS)
    assert (tmp_path / "p.csv").read_bytes() == first
    write_predictions(tmp_path / "p.csv", PREDICTIONS[:2])
    assert (tmp_path / "p.csv").read_bytes() != first


def test_right_is_an_accepted_class_among_the_first_guesses() -> None:
    one = PREDICTIONS[1]  # accepts 0 and 2, guesses 1, 2, 0, 3, 4
    assert [one.right(guesses) for guesses in (1, 2, 3, 5)] == [False, True, True, True]
    assert not PREDICTIONS[2].right(5)
    assert {metric: metric.guesses for metric in Metric} == {Metric.TOP1: 1, Metric.TOP5: 5}


@pytest.mark.parametrize("name", ["p.parquet", "p", "p.csv.gz"])
def test_another_ending_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"end the file name in \.csv"):
        check_ending(Path(name))


RUN = {"checkpoint": "abc", "batch size": "4"}
BATCH: BatchAnswers = (None, *(ModelAnswer((0, 3, 5, 7, 9), 1 / number) for number in (1, 2, 3)))


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """The journal of a run of which two batches are finished."""
    with open_journal(tmp_path / "p.csv.unfinished", RUN) as found:
        found.add(BATCH)
        found.add(BATCH[:2])
    return tmp_path / "p.csv.unfinished"


def test_what_is_written_is_read_back(journal: Path) -> None:
    with open_journal(journal, RUN) as found:
        assert found.finished == [BATCH, BATCH[:2]]  # to the last bit


def test_a_torn_last_line_is_dropped_wherever_it_was_torn(journal: Path) -> None:
    whole = journal.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
    for length in (*range(0, len(whole), 7), *ends, *(end - 1 for end in ends)):
        journal.write_bytes(whole[:length])
        with open_journal(journal, RUN) as found:
            assert len(found.finished) == max(0, sum(end <= length for end in ends) - 1)
            found.add(BATCH)
        with open_journal(journal, RUN) as found:
            assert found.finished[-1] == BATCH


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"mine", "was not written by imlp-audit; move it elsewhere"),
        (b"mine\n", "line 1 is damaged"),
        (b'{"format":"imlp-audit/answers/0"}\n', "line 1 is damaged, or another version"),
        (b'{"format":"imlp-audit/answers/4","evaluation":3}\n', "line 1 is damaged"),
        (
            b'{"format":"imlp-audit/answers/4","evaluation":{"batch size":"4","checkpoint":"abc"}}\n{"batch":[]}\n',
            "line 2 is",
        ),
        (b"[" * 10**5 + b"\n", "line 1 is damaged"),
    ],
)
def test_other_files_are_left_alone(tmp_path: Path, text: bytes, words: str) -> None:
    path = tmp_path / "p.csv.unfinished"
    path.write_bytes(text)
    with pytest.raises(UsageError, match=words), open_journal(path, RUN):
        pass
    assert path.read_bytes() == text


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_what_is_no_regular_file(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "p.csv.unfinished"
    make: dict[str, Callable[[], None]] = {"link": lambda: path.symlink_to("x"), "pipe": lambda: os.mkfifo(path)}
    make.get(kind, path.mkdir)()
    with pytest.raises(UsageError, match=f"is a {kind}, not a regular file; remove it"), open_journal(path, RUN):
        pass


def test_another_evaluation_is_refused_by_what_differs(journal: Path) -> None:
    other = {"checkpoint": "\x1b[2J", "batch size": "4", "limit": "10"}
    with pytest.raises(UsageError, match=r"checkpoint was abc, is .*; limit was not given, is 10\. Repeat"):  # noqa: SIM117
        with open_journal(journal, other):
            pass
    journal.write_bytes(journal.read_bytes().replace(b'"abc"', rb'"\u001b[2J"'))
    with pytest.raises(UsageError, match=r"checkpoint was \\x1b\[2J, is abc"), open_journal(journal, RUN):
        pass


def test_a_file_that_cannot_be_made(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="could not be created or read"), open_journal(tmp_path / "no" / "p", RUN):
        pass


def test_one_run_at_a_time_even_after_one_was_killed(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from imlp_audit.evaluate.predictions import *\n"
        "with open_journal(Path(sys.argv[1]), {}): print(flush=True); sys.stdin.read()"
    )
    path = tmp_path / "p"
    command = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(UsageError, match=r"another run is writing to .*p; wait for it"), open_journal(path, {}):
            pass
        os.kill(other.pid, signal.SIGKILL)
    with open_journal(path, {}) as found:
        assert found.finished == []
