"""A model's answer to each image: the file of all answers, and the journal from which an interrupted run continues."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import RawIOBase, StringIO
from os.path import lexists
from pathlib import Path
from typing import TypeAlias

from imlp_audit.errors import OutputError, UsageError
from imlp_audit.files import FileError, read_bytes
from imlp_audit.report.atomic_files import write_whole
from imlp_audit.report.document import make_visible

GUESSES = 5
"""How many classes an answer names, if the model has as many."""
_FORMAT = "imlp-audit/answers/4"
_LARGEST = 2**29  # bytes of a journal: ImageNet's training images take 90 million


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
    """The finished batches of a run, in order, in a file that grows by a line of JSON a batch; in none without one."""

    finished: list[BatchAnswers] = field(default_factory=list)
    path: Path | None = None
    file: RawIOBase | None = None

    def add(self, answers: BatchAnswers) -> None:
        """Append the next finished batch. Raises OutputError."""
        self.append({"answers": [None if one is None else [one.probability, *one.top5] for one in answers]})
        self.finished.append(answers)

    def remove(self) -> None:
        """Remove the file, once nobody needs to continue from it."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def append(self, content: object) -> None:
        """Append a line in one write."""
        if self.file is None:
            return
        line = _to_line(content)
        try:
            if self.file.write(line) != len(line):
                raise OSError("the disk is full")
        except OSError as error:
            raise OutputError(f"{self.path} could not be written: {error.strerror or error}") from error


def _to_line(content: object) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode() + b"\n"


@contextmanager
def open_journal(path: Path, fingerprint: Mapping[str, str]) -> Iterator[Journal]:
    """Open the journal of a run, or begin one. The last line is dropped if it is torn, as a killed run leaves it.

    `fingerprint` names everything that the answers depend on. Other runs are kept from the file. Raises UsageError if
    another run has it, and for a file of another run or a damaged one, which is left as it is; OutputError if the file
    cannot be written.
    """
    if lexists(path):
        _read_file(path)  # refuses a link, a pipe and the like, which would be opened otherwise
    try:
        file = path.open("ab", buffering=0)
    except OSError as error:
        raise OutputError(f"{path} could not be created or read: {error.strerror or error}") from error
    with file:
        _claim(file, path)
        data = _read_file(path)
        whole = data[: data.rfind(b"\n") + 1]
        header = {"format": _FORMAT, "evaluation": dict(fingerprint)}
        journal = Journal(_parse(path, whole, fingerprint), path, file)
        if not whole and not _to_line(header).startswith(data):
            raise UsageError(f"{path} was not written by imlp-audit; move it elsewhere")
        if len(whole) < len(data):
            file.truncate(len(whole))
        if not whole:
            journal.append(header)
        yield journal


def _claim(file: RawIOBase, path: Path) -> None:
    """Keep other runs from a file for as long as this process has it, where the system knows such claims."""
    try:
        import fcntl

        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError(f"another run is writing to {path}; wait for it to end, or name other --predictions") from None
    except (ImportError, OSError):
        return


def _read_file(path: Path) -> bytes:
    try:
        return read_bytes(path, _LARGEST, links=False)
    except FileError as error:
        raise UsageError(f"{error}; remove it") from error


def _parse(path: Path, data: bytes, fingerprint: Mapping[str, str]) -> list[BatchAnswers]:
    finished: list[BatchAnswers] = []
    for number, line in enumerate(data.splitlines(), 1):
        try:
            content = json.loads(line)
            if number > 1:
                finished.append(tuple(one and ModelAnswer(tuple(one[1:]), one[0]) for one in content["answers"]))
            elif content["format"] != _FORMAT:
                raise ValueError
            else:
                _check_same(path, content["evaluation"], fingerprint)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise UsageError(
                f"{path}: line {number} is damaged, or another version of imlp-audit wrote it; remove the file to "
                "begin again"
            ) from error
    return finished


def _check_same(path: Path, there: Mapping[str, str], here: Mapping[str, str]) -> None:
    changed = [
        f"{name} was {there.get(name, 'not given')}, is {here.get(name, 'not given')}"
        for name in sorted({*there, *here})
        if there.get(name) != here.get(name)
    ]
    if changed:
        raise UsageError(
            f"{path} holds another evaluation: {make_visible('; '.join(changed))}. Repeat the command that started it, "
            "or remove the file"
        )
