"""A part: a file of finished batches, with its length and checksum; every field is checked when it is read back.

The checksum shows damage. It is no seal: whoever can write the file can also write a checksum.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from imlp_audit.errors import UsageError
from imlp_audit.evaluate.predictions import GUESSES, ModelAnswer
from imlp_audit.files import FileError, read_bytes
from imlp_audit.report.files import write_whole

BatchAnswers: TypeAlias = Sequence[ModelAnswer | None]
Batches: TypeAlias = Mapping[int, BatchAnswers]

_LARGEST = 64 << 20  # bytes; a second's work is far smaller
_AGAIN = "remove it, and run the command with --resume: only its images are computed again"


@dataclass(frozen=True)
class ResumableRun:
    """An evaluation of a model with so many `classes` on so many `images`.

    `fingerprint` names everything that the numbers depend on.
    """

    fingerprint: Mapping[str, str]
    images: int
    classes: int

    @cached_property
    def digest(self) -> str:
        """The fingerprint's SHA-256, which every part of the run holds."""
        return hashlib.sha256(json.dumps(dict(self.fingerprint), sort_keys=True).encode()).hexdigest()

    def images_in(self, batch: int, size: int) -> int:
        """Return how many images a batch has; 0 if there is no such batch."""
        return max(0, min(size, self.images - batch * size))


@dataclass(frozen=True)
class KeptPart:
    """Finished batches of one size, by their number."""

    batch_size: int
    batches: Batches


class _DamagedError(Exception):
    """What is wrong with a part; continues after the file's name."""


def write_part(folder: Path, part: KeptPart, run: ResumableRun) -> None:
    """Write a part, whole or not at all. Raises OutputError."""
    content = {str(number): [_answer_to_json(one) for one in answers] for number, answers in part.batches.items()}
    written = {"run": run.digest, "batch_size": part.batch_size, "batches": content}
    body = json.dumps(written, separators=(",", ":")).encode()
    write_whole(folder / _name(part.batches), f"{len(body)} {hashlib.sha256(body).hexdigest()}\n".encode() + body)


def read_part(path: Path, run: ResumableRun) -> KeptPart:
    """Read a part back. Raises UsageError, with what to do, for anything that this run cannot have written."""
    try:
        part = _parse(read_plain(path, _LARGEST, _AGAIN), run)
        if path.name != _name(part.batches):
            raise _DamagedError(f"is named wrongly: it holds the batches from {min(part.batches)} on")
    except _DamagedError as error:
        raise UsageError(f"{path} {error}; {_AGAIN}") from error
    return part


def read_plain(path: Path, largest: int, advice: str) -> bytes:
    """Return the content of a regular file that is not a link. Raises UsageError."""
    try:
        return read_bytes(path, largest, links=False)
    except FileError as error:
        raise UsageError(f"{error}; {advice}") from error


def _name(batches: Batches) -> str:
    return f"{min(batches):08d}.part"


def _parse(data: bytes, run: ResumableRun) -> KeptPart:
    head, _, body = data.partition(b"\n")
    if head != f"{len(body)} {hashlib.sha256(body).hexdigest()}".encode():
        raise _DamagedError("is damaged: it was cut short, or changed after it was written")
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _DamagedError("is damaged: it is not JSON") from error
    if not isinstance(content, dict) or content.keys() != {"run", "batch_size", "batches"}:
        raise _DamagedError("is not a part of an evaluation")
    if content["run"] != run.digest:
        raise _DamagedError("belongs to another evaluation")
    size, batches = content["batch_size"], content["batches"]
    if type(size) is not int or size < 1 or not isinstance(batches, dict) or not batches:
        raise _DamagedError("is not a part of an evaluation")
    return KeptPart(size, {_number(key): _read_batch(key, answers, size, run) for key, answers in batches.items()})


def _number(key: str) -> int:
    if not re.fullmatch(r"0|[1-9]\d{0,11}", key, re.ASCII):
        raise _DamagedError(f"numbers a batch {key[:20]!a}")
    return int(key)


def _read_batch(key: str, answers: object, size: int, run: ResumableRun) -> BatchAnswers:
    wanted = run.images_in(_number(key), size)
    if not wanted:
        raise _DamagedError(f"holds batch {key}, and this evaluation has no such batch")
    if not isinstance(answers, list) or len(answers) != wanted:
        raise _DamagedError(f"does not hold an answer to each of the {wanted} images of batch {key}")
    return tuple(None if values is None else _read_answer(key, values, run.classes) for values in answers)


def _answer_to_json(answer: ModelAnswer | None) -> list[object] | None:
    return None if answer is None else [answer.probability, *answer.top5]


def _read_answer(key: str, values: object, classes: int) -> ModelAnswer:
    if not isinstance(values, list) or len(values) != 1 + min(GUESSES, classes):
        raise _DamagedError(f"holds an answer in batch {key} that is not a probability and {GUESSES} classes")
    probability, *top5 = values
    if type(probability) is not float or not 0 <= probability <= 1:
        raise _DamagedError(f"holds {ascii(probability)[:20]} as a probability, in batch {key}")
    wrong = [one for one in top5 if type(one) is not int or not 0 <= one < classes]
    if wrong or len(set(top5)) < len(top5):
        raise _DamagedError(f"holds {ascii((wrong or top5)[0])[:20]} as one of {classes} classes, in batch {key}")
    return ModelAnswer(tuple(top5), probability)
