"""A model's answer to each image: the file of all answers, and the journal from which an interrupted run continues."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO, StringIO
from os.path import lexists
from pathlib import Path
from typing import TypeAlias

from imlp_audit.errors import OutputError, UsageError
from imlp_audit.files import FileError, read_bytes
from imlp_audit.report.files import write_whole

ENDINGS = (".parquet", ".csv")
GUESSES = 5
"""How many classes an answer names, if the model has as many."""
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
    if path.suffix not in ENDINGS:
        raise UsageError(f"--predictions {path}: end the file name in {' or '.join(ENDINGS)}")


def write_predictions(path: Path, predictions: Sequence[Prediction]) -> None:
    """Write predictions whole, as parquet or CSV by the file's ending; equal predictions give equal bytes.

    The columns are image, labels, top5, probability (of the first guess) and readable. Raises OutputError.
    """
    check_ending(path)
    write_whole(path, _csv(predictions) if path.suffix == ".csv" else _parquet(predictions), links=True)


def _csv(predictions: Iterable[Prediction]) -> bytes:
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("image", "labels", "top5", "probability", "readable"))
    for one in predictions:
        top5, probability = (one.answer.top5, repr(one.answer.probability)) if one.answer else ((), "")
        writer.writerow((one.image, _join(one.labels), _join(top5), probability, str(one.answer is not None).lower()))
    return text.getvalue().encode("utf-8")


def _join(classes: Iterable[int]) -> str:
    return " ".join(map(str, classes))


def _parquet(predictions: Sequence[Prediction]) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    classes = pa.list_(pa.int32())
    columns = {
        "image": pa.array([one.image for one in predictions], pa.string()),
        "labels": pa.array([one.labels for one in predictions], classes),
        "top5": pa.array([one.answer.top5 if one.answer else () for one in predictions], classes),
        "probability": pa.array([one.answer.probability if one.answer else None for one in predictions], pa.float32()),
        "readable": pa.array([one.answer is not None for one in predictions], pa.bool_()),
    }
    buffer = BytesIO()
    parquet.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


BatchAnswers: TypeAlias = Sequence[ModelAnswer | None]


@dataclass(frozen=True)
class ResumableRun:
    """An evaluation of a model with so many `classes` on so many `images`, in batches of `size` or, halved, fewer.

    `fingerprint` names everything that the numbers depend on.
    """

    fingerprint: Mapping[str, str]
    size: int
    images: int
    classes: int


@dataclass
class Journal:
    """The finished batches of a run, by size and number, in a file that grows by a line a batch."""

    path: Path
    descriptor: int
    finished: dict[tuple[int, int], BatchAnswers]

    def of_size(self, size: int) -> dict[int, BatchAnswers]:
        """Return the finished batches of a size, by number."""
        return {number: answers for (other, number), answers in self.finished.items() if other == size}

    def add(self, size: int, number: int, answers: BatchAnswers) -> None:
        """Append a finished batch. Raises OutputError."""
        held = [None if one is None else [one.probability, *one.top5] for one in answers]
        self.append({"size": size, "batch": number, "answers": held})
        self.finished[size, number] = answers

    def append(self, content: object) -> None:
        """Append a line with its checksum, in one write: other processes append to the same file."""
        line = _seal(json.dumps(content, separators=(",", ":")).encode())
        try:
            if os.write(self.descriptor, line) < len(line):
                raise OSError("the disk is full")
        except OSError as error:
            raise OutputError(f"{self.path} could not be written: {error.strerror or error}") from error


@contextmanager
def open_journal(path: Path, run: ResumableRun, leads: bool = True) -> Iterator[Journal]:
    """Open the journal of a run, or begin one. The last line is dropped if it is torn, as a killed run leaves it.

    The `leads` process keeps other runs from the file. Raises UsageError if another run has it, and for anything that
    this run cannot have written, which is left as it is; OutputError if the file cannot be written.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    if lexists(path):
        _read_file(path)  # refuses a link, a pipe and the like, which would be opened otherwise
    try:
        descriptor = os.open(path, flags, 0o666)
    except OSError as error:
        raise OutputError(f"{path} could not be created or read: {error.strerror or error}") from error
    try:
        if leads:
            _claim(descriptor, path)
        data = _read_file(path)
        whole = data[: data.rfind(b"\n") + 1]
        header = {"format": "imlp-audit/answers/1", "evaluation": dict(run.fingerprint)}
        journal = Journal(path, descriptor, _parse(path, whole, run, header))
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


class _DamagedError(Exception):
    """What is wrong with a line; continues after its number."""


def _parse(
    path: Path, data: bytes, run: ResumableRun, header: Mapping[str, object]
) -> dict[tuple[int, int], BatchAnswers]:
    """Return the batches of a journal. Checksums show damage; whoever can write the file can write them too."""
    finished: dict[tuple[int, int], BatchAnswers] = {}
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        try:
            content = _parse_line(line)
            if number == 1:
                _check_header(path, content, header)
            elif content != header:  # which the first process of each machine writes
                key, answers = _read_batch(content, run)
                if key in finished:
                    raise _DamagedError(f"holds batch {key[1]}, which an earlier line holds too")
                finished[key] = answers
        except _DamagedError as error:
            raise UsageError(
                f"{path}: line {number} {error}; remove that line, and only its batch is computed again"
                if number > 1
                else f"{path}: line 1 {error}; remove the file to begin again"
            ) from error
    return finished


def _parse_line(line: bytes) -> dict[str, object]:
    digest, _, body = line.partition(b" ")
    if line != _seal(body[:-1]) or len(digest) != 64:
        raise _DamagedError("is damaged: it was changed after it was written")
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _DamagedError("is not JSON") from error
    if not isinstance(content, dict):
        raise _DamagedError("is not of an evaluation")
    return content


def _check_header(path: Path, content: Mapping[str, object], header: Mapping[str, object]) -> None:
    there, here = content.get("evaluation"), header["evaluation"]
    if content.get("format") != header["format"]:
        raise _DamagedError("was written by another version of imlp-audit, or is not of an evaluation")
    if not isinstance(there, dict) or not all(isinstance(one, str) for one in there.values()):
        raise _DamagedError("does not say of which evaluation it is")
    assert isinstance(here, dict)
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


def _read_batch(content: Mapping[str, object], run: ResumableRun) -> tuple[tuple[int, int], BatchAnswers]:
    match content:
        case {"size": int(size), "batch": int(number), "answers": [*answers], **rest} if not rest and size > 0:
            halved = run.size >> max(0, run.size.bit_length() - size.bit_length()) == size
            images = min(size, run.images - number * size)
            if halved and number >= 0 and 0 < images == len(answers):
                return (size, number), tuple(_read_answer(one, number, run.classes) for one in answers)
    raise _DamagedError("is not a batch that this evaluation can have written")


def _read_answer(values: object, number: int, classes: int) -> ModelAnswer | None:
    match values:
        case None:
            return None
        case [float(probability), *top5] if 0 <= probability <= 1 and len(top5) == min(GUESSES, classes):
            if len(set(top5)) == len(top5) and all(type(one) is int and 0 <= one < classes for one in top5):
                return ModelAnswer(tuple(one for one in top5 if isinstance(one, int)), probability)
    raise _DamagedError(f"holds {ascii(values)[:80]} as an answer in batch {number}")
