"""A model's answer to each image, and the file of all answers."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO, StringIO
from pathlib import Path

from imlp_audit.errors import UsageError
from imlp_audit.report.files import write_whole

ENDINGS = (".parquet", ".csv")
GUESSES = 5
"""How many classes an answer names, if the model has as many."""


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
