"""From predictions to verdicts on printed numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from imlp_audit.errors import UsageError
from imlp_audit.evaluate.against import Run, judge_difference
from imlp_audit.evaluate.images import why_unreadable
from imlp_audit.evaluate.outcomes import accuracy
from imlp_audit.evaluate.predictions import Prediction
from imlp_audit.evaluate.task import Task
from imlp_audit.evaluate.verdict import judge
from imlp_audit.records.check import Check
from imlp_audit.records.evidence import Accuracy
from imlp_audit.spec.references import CellRef
from imlp_audit.spec.tables import AccuracyColumn

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
    if not isinstance(cell.column, AccuracyColumn):
        raise UsageError(f"{cell.id} cannot be evaluated: its column has no `metric` and `data`")
    metric = cell.column.metric
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
