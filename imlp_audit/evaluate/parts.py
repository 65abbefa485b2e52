"""The finished batches of an unfinished evaluation, on disk: a folder that a later run can continue from.

A part is a file of batches with their length and checksum. It appears whole, by a rename, or not at all. Other files
in the folder are ignored, and nothing is read unless the manifest shows that the same evaluation wrote it.
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
from imlp_audit.evaluate.predictions import ModelAnswer
from imlp_audit.report.files import write_whole

BatchAnswers: TypeAlias = Sequence[ModelAnswer | None]
Batches: TypeAlias = Mapping[int, BatchAnswers]

_MANIFEST = "manifest.json"
EVERY = 1.0  # seconds between parts: writing one takes milliseconds, and at most this much work is lost


@dataclass
class Parts:
    """The parts of an evaluation in a folder, all with one batch size.

    `fingerprint` names everything that the numbers depend on.
    """

    folder: Path
    batch_size: int
    fingerprint: Mapping[str, str]

    def restart(self, batch_size: int) -> None:
        """Continue with smaller batches; the finished ones no longer count."""
        self.batch_size = batch_size
        self._write_manifest()

    def read_finished(self) -> dict[int, BatchAnswers]:
        """Return every finished batch, by its number."""
        batches: dict[int, BatchAnswers] = {}
        for path in sorted(self.folder.glob("*.part")):
            batches |= _unpack(path.read_bytes(), self.batch_size)
        return batches

    def write(self, batches: Batches) -> None:
        """Add a part. Raises OutputError."""
        write_whole(self.folder / f"{min(batches):08d}.part", _pack(batches, self.batch_size))

    def remove(self) -> None:
        """Remove the folder; another process on this machine may be doing the same."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _write_manifest(self) -> None:
        manifest = {"batch_size": self.batch_size, "pinned": dict(self.fingerprint)}
        write_whole(self.folder / _MANIFEST, (json.dumps(manifest, indent=2, sort_keys=True) + "\n").encode())


def open_parts(folder: Path, fingerprint: Mapping[str, str], batch_size: int, resume: bool) -> Parts:
    """Open a folder for parts; a resumed run continues with the batch size that the earlier run ended with.

    Raises UsageError if an earlier run left parts and `resume` is not set, or if it was another evaluation, and
    OutputError if the folder cannot be written to.
    """
    parts = Parts(folder, batch_size, fingerprint)
    try:
        earlier = _read_manifest(folder)
        if earlier is None:
            folder.mkdir(exist_ok=True)
            parts.restart(batch_size)
            return parts
    except OSError as error:
        raise OutputError(f"{folder} could not be created or read: {error.strerror or error}") from error
    if not resume:
        raise UsageError(
            f"{folder} holds the finished part of an earlier run; add --resume to continue it, or remove the folder"
        )
    _check_same(folder, earlier.fingerprint, fingerprint)
    return earlier


@dataclass
class Journal:
    """Collects finished batches, and writes a part every `every` seconds and on closing; `clock` gives the seconds."""

    parts: Parts | None
    every: float = EVERY
    clock: Callable[[], float] = time.monotonic
    _waiting: dict[int, BatchAnswers] = field(default_factory=dict)
    _written: float = field(init=False)

    def __post_init__(self) -> None:
        self._written = self.clock()

    def add(self, number: int, answers: BatchAnswers) -> None:
        """Add a finished batch."""
        self._waiting[number] = answers
        if self.clock() - self._written >= self.every:
            self.close()

    def close(self) -> None:
        """Write the batches that are not written yet."""
        if self.parts is not None and self._waiting:
            self.parts.write(self._waiting)
        self._waiting = {}
        self._written = self.clock()


def _check_same(folder: Path, there: Mapping[str, str], here: Mapping[str, str]) -> None:
    names = [name for name in sorted({*there, *here}) if there.get(name) != here.get(name)]
    if names:
        changes = "; ".join(
            f"{name} was {there.get(name, 'not given')}, is {here.get(name, 'not given')}" for name in names
        )
        raise UsageError(
            f"{folder} holds another evaluation: {changes}. Repeat the command that started it, or remove the folder"
        )


def _read_manifest(folder: Path) -> Parts | None:
    path = folder / _MANIFEST
    try:
        manifest = json.loads(path.read_bytes())
        return Parts(folder, int(manifest["batch_size"]), dict(manifest["pinned"]))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} is damaged; remove the folder {folder} and start again") from error


def _pack(batches: Batches, batch_size: int) -> bytes:
    """Return batches as JSON, after a line with its length and checksum."""
    content = {str(number): [_answer_to_json(one) for one in answers] for number, answers in batches.items()}
    body = json.dumps({"batch_size": batch_size, "batches": content}, separators=(",", ":")).encode()
    return f"{len(body)} {hashlib.sha256(body).hexdigest()}\n".encode() + body


def _unpack(data: bytes, batch_size: int) -> dict[int, BatchAnswers]:
    """Read a part back; nothing if it is not whole or has another batch size."""
    head, _, body = data.partition(b"\n")
    if head != f"{len(body)} {hashlib.sha256(body).hexdigest()}".encode():
        return {}
    content = json.loads(body)
    if content["batch_size"] != batch_size:
        return {}
    return {int(number): tuple(map(_answer_from_json, answers)) for number, answers in content["batches"].items()}


def _answer_to_json(answer: ModelAnswer | None) -> list[object] | None:
    return None if answer is None else [answer.probability, *answer.top5]


def _answer_from_json(values: Sequence[float] | None) -> ModelAnswer | None:
    return None if values is None else ModelAnswer(tuple(int(one) for one in values[1:]), float(values[0]))
