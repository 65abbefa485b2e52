"""The finished batches of an evaluation that is under way, on disk: a folder that a later run goes on from.

A part is a file that holds some batches with their length and checksum. It appears whole, by a rename, or not at all;
whatever else lies in the folder is not read, and nothing unless the manifest says that the same evaluation wrote it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from imlp_audit.errors import OutputError, UsageError
from imlp_audit.evaluate.predictions import Answer
from imlp_audit.report.files import write_whole

Answers: TypeAlias = Sequence[Answer | None]
Batches: TypeAlias = Mapping[int, Answers]

_MANIFEST = "manifest.json"
EVERY = 1.0  # seconds between parts: writing one takes milliseconds, and so much work is lost at most


@dataclass
class Parts:
    """The parts of an evaluation in a folder, all of them of one batch size."""

    folder: Path
    batch_size: int
    pinned: Mapping[str, str]

    def restart(self, batch_size: int) -> None:
        """Go on with smaller batches; those that are finished count no longer."""
        self.batch_size = batch_size
        self._write_manifest()

    def finished(self) -> dict[int, Answers]:
        """Return every batch that is finished, by its number."""
        found: dict[int, Answers] = {}
        for path in sorted(self.folder.glob("*.part")):
            found |= _batches(path.read_bytes(), self.batch_size)
        return found

    def write(self, batches: Batches) -> None:
        """Add a part. Raises OutputError."""
        write_whole(self.folder / f"{min(batches):08d}.part", _sealed(batches, self.batch_size))

    def remove(self) -> None:
        """Remove the folder; another process on this machine may be doing the same."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _write_manifest(self) -> None:
        told = {"batch_size": self.batch_size, "pinned": dict(self.pinned)}
        write_whole(self.folder / _MANIFEST, (json.dumps(told, indent=2, sort_keys=True) + "\n").encode())


def open_parts(folder: Path, pinned: Mapping[str, str], batch_size: int, *, resume: bool) -> Parts:
    """Begin in a folder, or go on there with the batch size that the earlier run ended up with.

    `pinned` is everything that the numbers depend on. Raises UsageError where an earlier run left something and it is
    not to be resumed, or was another evaluation; OutputError where the folder cannot be written to.
    """
    parts = Parts(folder, batch_size, pinned)
    try:
        earlier = _manifest(folder)
        if earlier is None:
            folder.mkdir(exist_ok=True)
            parts.restart(batch_size)
            return parts
    except OSError as error:
        raise OutputError(f"{folder} could not be made or read: {error.strerror or error}") from error
    if not resume:
        raise UsageError(
            f"{folder} holds what an earlier run has finished; add --resume to go on from it, or remove the folder"
        )
    _check_same(folder, earlier.pinned, pinned)
    return earlier


@dataclass
class Journal:
    """Collects finished batches, and writes a part of them now and then; what is left when it closes too."""

    parts: Parts | None
    clock: Callable[[], float] = time.monotonic
    _waiting: dict[int, Answers] = field(default_factory=dict)
    _written: float = field(init=False)

    def __post_init__(self) -> None:
        self._written = self.clock()

    def add(self, number: int, answers: Answers) -> None:
        """Take a finished batch."""
        self._waiting[number] = answers
        if self.clock() - self._written >= EVERY:
            self.close()

    def close(self) -> None:
        """Write what waits."""
        if self.parts is not None and self._waiting:
            self.parts.write(self._waiting)
        self._waiting = {}
        self._written = self.clock()


def _check_same(folder: Path, there: Mapping[str, str], here: Mapping[str, str]) -> None:
    names = [name for name in sorted({*there, *here}) if there.get(name) != here.get(name)]
    if names:
        told = "; ".join(
            f"{name} was {there.get(name, 'not given')}, is {here.get(name, 'not given')}" for name in names
        )
        raise UsageError(
            f"{folder} holds another evaluation: {told}. Repeat the command that began it, or remove the folder"
        )


def _manifest(folder: Path) -> Parts | None:
    path = folder / _MANIFEST
    try:
        told = json.loads(path.read_bytes())
        return Parts(folder, int(told["batch_size"]), dict(told["pinned"]))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} is damaged; remove the folder {folder} and begin anew") from error


def _sealed(batches: Batches, batch_size: int) -> bytes:
    """Write batches as a line with the length and checksum of what follows, and that as JSON."""
    told = {str(number): [_written(one) for one in answers] for number, answers in batches.items()}
    body = json.dumps({"batch_size": batch_size, "batches": told}, separators=(",", ":")).encode()
    return f"{len(body)} {hashlib.sha256(body).hexdigest()}\n".encode() + body


def _batches(data: bytes, batch_size: int) -> dict[int, Answers]:
    """Read a part back; nothing where it is not whole, or is of another batch size."""
    head, _, body = data.partition(b"\n")
    if head != f"{len(body)} {hashlib.sha256(body).hexdigest()}".encode():
        return {}
    told = json.loads(body)
    if told["batch_size"] != batch_size:
        return {}
    return {int(number): tuple(map(_read, answers)) for number, answers in told["batches"].items()}


def _written(answer: Answer | None) -> list[object] | None:
    return None if answer is None else [answer.probability, *answer.top5]


def _read(told: Sequence[float] | None) -> Answer | None:
    return None if told is None else Answer(tuple(int(one) for one in told[1:]), float(told[0]))
