"""A model's answer to each image: the file of all answers, and the journal from which an interrupted run continues."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import StringIO
from os.path import lexists
from pathlib import Path
from typing import TypeAlias

from imlp_audit.errors import OutputError, UsageError
from imlp_audit.files import FileError, read_bytes
from imlp_audit.report.files import write_whole

GUESSES = 5
"""How many classes an answer names, if the model has as many."""
_FORMAT = "imlp-audit/answers/2"
_LARGEST = 2**29  # bytes of a journal: ImageNet's training images take 90 million
_PATIENCE = 8.0  # seconds: what a killed run leaves behind, such as processes that read images, ends within five
_LONGEST = 300  # characters of a header's text that a message repeats


@dataclass(frozen=True)
class ModelAnswer:
    """The likeliest classes, at most five, best first, and the probability of the first."""

    top5: tuple[int, ...]
    probability: float


@dataclass(frozen=True)
class Prediction:
    """One image, its accepted classes, and the model's answer; an unreadable image has none."""

    image: str
    labels: tuple[int, ...]
    answer: ModelAnswer | None

    def right(self, guesses: int) -> bool:
        """Return whether an accepted class is among the first `guesses` guesses."""
        return self.answer is not None and not set(self.labels).isdisjoint(self.answer.top5[:guesses])


def check_ending(path: Path) -> None:
    """Raise UsageError for a file of predictions with an unknown ending."""
    if path.suffix != ".csv":
        raise UsageError(f"--predictions {path}: end the file name in .csv")


def write_predictions(path: Path, predictions: Sequence[Prediction]) -> None:
    """Write predictions whole, as CSV; equal predictions give equal bytes.

    The columns are image, labels, top5, probability (of the first guess) and readable. Raises OutputError.
    """
    check_ending(path)
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("image", "labels", "top5", "probability", "readable"))
    for one in predictions:
        top5, probability = (one.answer.top5, repr(one.answer.probability)) if one.answer else ((), "")
        writer.writerow((one.image, _join(one.labels), _join(top5), probability, str(one.answer is not None).lower()))
    write_whole(path, text.getvalue().encode("utf-8"), links=True)


def _join(classes: Iterable[int]) -> str:
    return " ".join(map(str, classes))


BatchAnswers: TypeAlias = Sequence[ModelAnswer | None]


@dataclass
class Journal:
    """The finished batches of a run, by number, in a file that grows by a line a batch; in none without a path."""

    finished: dict[int, BatchAnswers] = field(default_factory=dict)
    path: Path | None = None
    descriptor: int | None = None

    def add(self, number: int, answers: BatchAnswers) -> None:
        """Append a finished batch. Raises OutputError."""
        held = [None if one is None else [one.probability, *one.top5] for one in answers]
        self.append({"batch": number, "answers": held})
        self.finished[number] = answers

    def remove(self) -> None:
        """Remove the file, once nobody needs to continue from it."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def append(self, content: object) -> None:
        """Append a line with its checksum, in one write."""
        if self.descriptor is None:
            return
        line = _seal(json.dumps(content, separators=(",", ":")).encode())
        try:
            if os.write(self.descriptor, line) < len(line):
                raise OSError("the disk is full")
        except OSError as error:
            raise OutputError(f"{self.path} could not be written: {error.strerror or error}") from error


@contextmanager
def open_journal(path: Path, fingerprint: Mapping[str, str]) -> Iterator[Journal]:
    """Open the journal of a run, or begin one. The last line is dropped if it is torn, as a killed run leaves it.

    `fingerprint` names everything that the answers depend on. Other runs are kept from the file. Raises UsageError if
    another run has it, and for a file of another run or a damaged one, which is left as it is; OutputError if the file
    cannot be written.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    if lexists(path):
        _read_file(path)  # refuses a link, a pipe and the like, which would be opened otherwise
    try:
        descriptor = os.open(path, flags, 0o666)
    except OSError as error:
        raise OutputError(f"{path} could not be created or read: {error.strerror or error}") from error
    try:
        _claim(descriptor, path)
        data = _read_file(path)
        whole = data[: data.rfind(b"\n") + 1]
        header = {"format": _FORMAT, "evaluation": dict(fingerprint)}
        journal = Journal(_parse(path, whole, fingerprint), path, descriptor)
        if not whole and not _seal(json.dumps(header, separators=(",", ":")).encode()).startswith(data):
            raise UsageError(f"{path} was not written by imlp-audit; move it elsewhere")
        if len(whole) < len(data):
            os.ftruncate(descriptor, len(whole))
        if not whole:
            journal.append(header)
        yield journal
    finally:
        os.close(descriptor)


def _claim(descriptor: int, path: Path) -> None:
    """Keep other runs from a file for as long as this process has it, where the disk knows such claims."""
    try:
        import fcntl
    except ImportError:
        return None
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise UsageError(
                    f"another run is writing to {path}; wait for it to end, or name other --predictions"
                ) from None
        except OSError:
            return None
        time.sleep(0.1)


def _read_file(path: Path) -> bytes:
    try:
        return read_bytes(path, _LARGEST, links=False)
    except FileError as error:
        raise UsageError(f"{error}; remove it") from error


def _seal(body: bytes) -> bytes:
    return b"%s %s\n" % (hashlib.sha256(body).hexdigest().encode(), body)


def _parse(path: Path, data: bytes, fingerprint: Mapping[str, str]) -> dict[int, BatchAnswers]:
    """Return the batches of a journal. A line whose checksum is right is one that an evaluation wrote."""
    finished: dict[int, BatchAnswers] = {}
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        body = line.partition(b" ")[2][:-1]
        remedy = "that line, and only its batch is computed again" if number > 1 else "the file to begin again"
        if line != _seal(body):
            raise UsageError(f"{path}: line {number} is damaged: it was changed after it was written; remove {remedy}")
        match json.loads(body):
            case {"format": "imlp-audit/answers/2", "evaluation": dict(there)}:
                _check_same(path, there, fingerprint)
            case {"batch": int(batch), "answers": [*answers]} if number > 1:
                finished[batch] = tuple(one and ModelAnswer(tuple(one[1:]), one[0]) for one in answers)
            case _:
                raise UsageError(f"{path}: line {number} was written by another version of imlp-audit; remove {remedy}")
    return finished


def _check_same(path: Path, there: Mapping[str, str], here: Mapping[str, str]) -> None:
    names = [name for name in sorted({*there, *here}) if there.get(name) != here.get(name)]
    if names:
        changes = "; ".join(
            f"{_show(name)} was {_show(there.get(name, 'not given'))}, is {here.get(name, 'not given')}"
            for name in names
        )
        raise UsageError(
            f"{path} holds another evaluation: {changes}. Repeat the command that started it, or remove the file"
        )


def _show(text: str) -> str:
    """Return text from a file so that a terminal can show it."""
    return (text if text.isprintable() else ascii(text))[:_LONGEST]
