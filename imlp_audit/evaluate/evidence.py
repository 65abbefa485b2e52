"""Of each image whether it was classified rightly, on record with what says which images they were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from imlp_audit.evaluate.against import Run, judge_difference
from imlp_audit.evaluate.data.images import data_digest, why_unreadable
from imlp_audit.evaluate.predictions import Prediction
from imlp_audit.evaluate.statistics import DIGITS, wilson
from imlp_audit.evaluate.task import Task
from imlp_audit.evaluate.verdict import judge
from imlp_audit.numbers.interval import decimal_text
from imlp_audit.records.check import Check
from imlp_audit.records.evidence import Accuracy
from imlp_audit.spec.references import CellRef
from imlp_audit.spec.schema import Metric


def accuracy(
    metric: Metric,
    right: Sequence[bool],
    images: Sequence[tuple[str, tuple[int, ...]]],
    *,
    available: int,
    unreadable: int,
    unlabelled: int,
    checkpoint: str,
    settings: Mapping[str, str],
) -> Accuracy:
    """Put an evaluation on record.

    `images` are the ids and accepted classes of those that could be read and have a label, in the data set's order, and
    `right` says of each whether it was classified rightly; the others are counted. `checkpoint` is a SHA-256.
    """
    looked_at = len(right) + unreadable
    return Accuracy(
        metric=metric,
        correct=sum(right),
        images=len(right),
        available=available,
        unreadable=unreadable,
        unlabelled=unlabelled,
        low=decimal_text(wilson(sum(right), looked_at).low, DIGITS),
        high=decimal_text(wilson(sum(right) + unreadable, looked_at).high, DIGITS),
        outcomes="".join(_digits(right)),
        checkpoint=checkpoint,
        data=data_digest(images),
        settings=dict(settings),
    )


def _digits(right: Sequence[bool]) -> Iterator[str]:
    for start in range(0, len(right), 4):
        bits = "".join("1" if one else "0" for one in right[start : start + 4])
        yield f"{int(bits.ljust(4, '0'), 2):x}"


_NAMED = 10  # unreadable images told by name; the file of predictions has all


def checks(task: Task, predictions: Sequence[Prediction], settings: Mapping[str, str]) -> tuple[Check, ...]:
    """Judge each cell, and where an earlier run was given, the printed difference from it."""
    hints = (*task.notes, *_unreadable(task, predictions))
    return tuple(
        check.model_copy(update={"hints": (*check.hints, *hints)})
        for cell, other in task.cells
        for check in _judged(task, cell, other, _accuracy(task, cell, predictions, settings))
    )


def _judged(task: Task, cell: CellRef, other: Run | None, found: Accuracy) -> Iterator[Check]:
    most = task.request.most_unreadable
    yield judge(cell, found, task.reading, most)
    if other is not None:
        yield judge_difference(Run(cell, found, task.reading), other, most)


def _accuracy(task: Task, cell: CellRef, predictions: Sequence[Prediction], settings: Mapping[str, str]) -> Accuracy:
    metric = cell.column.metric
    assert metric is not None, "score_cells has seen to it"
    read = [one for one in predictions if one.answer is not None]
    return accuracy(
        metric,
        [one.right(metric.guesses) for one in read],
        [(one.image, one.labels) for one in read],
        available=len(task.images.ids),
        unreadable=len(predictions) - len(read),
        unlabelled=sum(not accepted for accepted in task.images.labels),
        checkpoint=task.checkpoint,
        settings=settings,
    )


def _unreadable(task: Task, predictions: Sequence[Prediction]) -> Iterator[str]:
    """Name the images that could not be read, and why."""
    lost = [index for index, one in zip(task.chosen, predictions, strict=True) if one.answer is None]
    for index in lost[:_NAMED]:
        yield f"not read: {why_unreadable(task.images, index)}"
    if len(lost) > _NAMED:
        yield f"not read: {len(lost) - _NAMED} more images, which the predictions name"
