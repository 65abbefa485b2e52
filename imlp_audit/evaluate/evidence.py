"""From predictions to evidence on record, and to the checks of the printed numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from imlp_audit.evaluate.against import EvaluatedCell, judge_difference
from imlp_audit.evaluate.data.images import data_digest, why_unreadable
from imlp_audit.evaluate.predictions import Prediction
from imlp_audit.evaluate.statistics import DIGITS, wilson
from imlp_audit.evaluate.task import Task
from imlp_audit.evaluate.verdict import ScoreCell, judge
from imlp_audit.numbers.interval import decimal_text
from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import Check
from imlp_audit.records.evidence import Accuracy
from imlp_audit.spec.columns import Metric

_NAMED = 10  # unreadable images named in a hint; the file of predictions names all


def judge_cells(task: Task, predictions: Sequence[Prediction], settings: Mapping[str, str]) -> tuple[Check, ...]:
    """Judge each cell and, if an earlier run was given, the printed difference from it."""
    hints = (*task.images.notes, *task.notes, *_unreadable(task, predictions))
    return tuple(
        check.model_copy(update={"hints": (*check.hints, *hints)})
        for score, other in task.cells
        for check in _judge(task, score, other, _accuracy(task, score, predictions, settings))
    )


def record_accuracy(
    metric: Metric,
    right: Sequence[bool],
    images: Sequence[tuple[str, tuple[int, ...]]],
    *,
    available: int,
    unreadable: int,
    unlabelled: int,
    checkpoint: str,
    settings: Mapping[str, str],
    contents: str | None = None,
) -> Accuracy:
    """Return the record of an evaluation.

    `images` are the ids and accepted classes of the images that could be read and have a label, in the data set's
    order; `right` says for each whether it was classified correctly. `checkpoint` and `contents` are SHA-256.
    """
    evaluated = len(right) + unreadable
    return Accuracy(
        metric=metric,
        correct=sum(right),
        images=len(right),
        available=available,
        unreadable=unreadable,
        unlabelled=unlabelled,
        low=decimal_text(wilson(sum(right), evaluated).low, DIGITS),
        high=decimal_text(wilson(sum(right) + unreadable, evaluated).high, DIGITS),
        outcomes="".join(_hexadecimal(right)),
        checkpoint=checkpoint,
        data=data_digest(images),
        contents=contents,
        settings=dict(settings),
    )


def _hexadecimal(right: Sequence[bool]) -> Iterator[str]:
    """Yield a digit for each four images, the first image in the highest bit."""
    for start in range(0, len(right), 4):
        bits = "".join("1" if one else "0" for one in right[start : start + 4])
        yield f"{int(bits.ljust(4, '0'), 2):x}"


def _judge(task: Task, score: ScoreCell, other: EvaluatedCell | None, accuracy: Accuracy) -> Iterator[Check]:
    most = task.request.most_unreadable
    yield judge(score.cell, accuracy, task.reading, most)
    if other is not None:
        yield judge_difference(EvaluatedCell(score.cell, accuracy, task.reading), other, most)


def _accuracy(task: Task, score: ScoreCell, predictions: Sequence[Prediction], settings: Mapping[str, str]) -> Accuracy:
    answered = [one for one in predictions if one.answer is not None]
    return record_accuracy(
        score.metric,
        [one.right(score.metric.guesses) for one in answered],
        [(one.image, one.labels) for one in answered],
        available=len(task.images.ids),
        unreadable=len(predictions) - len(answered),
        unlabelled=sum(not accepted for accepted in task.images.labels),
        checkpoint=task.checkpoint,
        settings=settings,
        contents=task.contents,
    )


def _unreadable(task: Task, predictions: Sequence[Prediction]) -> Iterator[str]:
    """Name the images that could not be read, with the reason for each."""
    lost = [index for index, one in zip(task.chosen, predictions, strict=True) if one.answer is None]
    for index in lost[:_NAMED]:
        yield f"not read: {why_unreadable(task.images, index)}"
    if len(lost) > _NAMED:
        yield f"not read: {count_of(len(lost) - _NAMED, 'more image')}; the file of predictions names them"
