"""The finished batches of an unfinished evaluation, on disk: a folder that a later run can continue from.

A part is a file of batches. It appears whole, by a rename, or not at all. A folder with anything that the same
evaluation cannot have written is refused, with what to remove; nothing in it is changed.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from os.path import lexists
from pathlib import Path

from imlp_audit.errors import OutputError, UsageError
from imlp_audit.evaluate.part_file import BatchAnswers, KeptPart, ResumableRun, read_part, read_plain, write_part
from imlp_audit.report.files import UNFINISHED, write_whole

_MANIFEST = "manifest.json"
_PART = re.compile(r"\d{8,}\.part")
_FORMAT = 2
_LARGEST_MANIFEST = 1 << 20  # bytes
_KEPT = "remove it, and run the command with --resume: the parts are kept"
_LONGEST = 300  # characters of a manifest's text that a message repeats
EVERY = 1.0  # seconds between parts: writing one takes milliseconds, and at most this much work is lost


@dataclass
class Parts:
    """The parts of an evaluation in a folder, all that count with one batch size."""

    folder: Path
    batch_size: int
    run: ResumableRun

    def restart(self, batch_size: int) -> None:
        """Continue with smaller batches; the finished ones no longer count."""
        self.batch_size = batch_size
        manifest = {"format": _FORMAT, "batch_size": batch_size, "pinned": dict(self.run.fingerprint)}
        write_whole(self.folder / _MANIFEST, (json.dumps(manifest, indent=2, sort_keys=True) + "\n").encode())

    def read_finished(self) -> dict[int, BatchAnswers]:
        """Return every finished batch, by its number. Raises UsageError for a part that this run did not write."""
        batches: dict[int, BatchAnswers] = {}
        for path in _list_parts(self.folder):
            part = read_part(path, self.run)
            if part.batch_size != self.batch_size:
                continue
            if twice := batches.keys() & part.batches.keys():
                raise UsageError(f"{path} holds batch {min(twice)}, which another part holds too; remove one of them")
            batches |= part.batches
        return batches

    def write(self, batches: Mapping[int, BatchAnswers]) -> None:
        """Add a part. Raises OutputError."""
        write_part(self.folder, KeptPart(self.batch_size, batches), self.run)

    def remove(self) -> None:
        """Remove our files, and the folder if it is empty then; another process here may be doing the same."""
        with suppress(OSError):
            for path in self.folder.iterdir():
                if path.name == _MANIFEST or _PART.fullmatch(path.name) or path.name.startswith(UNFINISHED):
                    path.unlink(missing_ok=True)
            self.folder.rmdir()


def open_parts(folder: Path, run: ResumableRun, batch_size: int, resume: bool) -> Parts:
    """Open a folder for parts; a resumed run continues with the batch size that the earlier run ended with.

    Raises UsageError if an earlier run left parts and `resume` is not set, if it was another evaluation, or if
    something is wrong with one of its files, and OutputError if the folder cannot be written to.
    """
    parts = Parts(folder, batch_size, run)
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise UsageError(f"{folder} is not a folder, and finished batches are to be kept there; remove it")
    try:
        folder.mkdir(exist_ok=True)
        begun = bool(list(_list_parts(folder))) or lexists(folder / _MANIFEST)
    except OSError as error:
        raise OutputError(f"{folder} could not be created or read: {error.strerror or error}") from error
    if begun and not resume:
        raise UsageError(
            f"{folder} holds the finished part of an earlier run; add --resume to continue it, or remove the folder"
        )
    earlier = _read_manifest(folder, run, batch_size)
    if earlier is None:
        parts.restart(batch_size)  # parts without a manifest say themselves whose they are
    else:
        parts.batch_size = earlier
    parts.read_finished()
    return parts


def _list_parts(folder: Path) -> Iterator[Path]:
    """Yield the parts in order. Hidden files are ignored: writers and file systems leave them. Raises UsageError."""
    for path in sorted(folder.iterdir()):
        if _PART.fullmatch(path.name):
            yield path
        elif path.name != _MANIFEST and not path.name.startswith("."):
            raise UsageError(f"{path} is not a file of imlp-audit; move it elsewhere: the folder is removed at the end")


def _read_manifest(folder: Path, run: ResumableRun, batch_size: int) -> int | None:
    """Return the batch size that an earlier run ended with; None if it left no manifest. Raises UsageError."""
    path = folder / _MANIFEST
    if not lexists(path):
        return None
    try:
        manifest = json.loads(read_plain(path, _LARGEST_MANIFEST, _KEPT))
        found, size, pinned = manifest.get("format"), manifest["batch_size"], manifest["pinned"]
        whole = type(size) is int and all(isinstance(one, str) for one in {**pinned}.values())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        whole = False
    if not whole:
        raise UsageError(f"{path} is damaged; {_KEPT}")
    if found != _FORMAT:
        raise UsageError(f"{path} was written by another version of imlp-audit; use that version, or remove {folder}")
    _check_same(folder, pinned, run.fingerprint)
    if size not in {batch_size >> halved for halved in range(batch_size.bit_length())}:
        raise UsageError(f"{path} has a batch size of {size}, which no run from {batch_size} comes to; {_KEPT}")
    return int(size)


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
            f"{_show(name)} was {_show(there.get(name, 'not given'))}, is {here.get(name, 'not given')}"
            for name in names
        )
        raise UsageError(
            f"{folder} holds another evaluation: {changes}. Repeat the command that started it, or remove the folder"
        )


def _show(text: str) -> str:
    """Return text from a file so that a terminal can show it."""
    return (text if text.isprintable() else ascii(text))[:_LONGEST]
