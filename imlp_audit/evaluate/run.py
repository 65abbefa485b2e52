"""Run an evaluation from its request to a result, which is the same to the last bit if the run was resumed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TypeAlias

from imlp_audit.errors import ClosedPipeError, UsageError
from imlp_audit.evaluate.images import why_unreadable
from imlp_audit.evaluate.inference import load_batches, predict_batches
from imlp_audit.evaluate.predictions import BatchAnswers, Journal, Prediction, open_journal, write_predictions
from imlp_audit.evaluate.request import Request, Task, list_versions, prepare
from imlp_audit.evaluate.verdict import EvaluatedCell, ScoreCell, judge, record_accuracy
from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import Check
from imlp_audit.records.result import AuditResult
from imlp_audit.spec.paper import paper_head

Say: TypeAlias = Callable[[str], None]
Tell: TypeAlias = Callable[[int, int], None]
Progress: TypeAlias = Callable[[], AbstractContextManager[Tell]]
_NAMED = 10  # unreadable images named in a hint; the file of predictions names all


@contextmanager
def run_evaluation(request: Request, say: Say, progress: Progress) -> Iterator[AuditResult]:
    """Evaluate, and yield the result.

    The journal that a later run could continue from is removed once the caller has finished with the result. `say`
    takes notes for the user; `progress` opens a callback that takes how many images are done, and of how many.
    """
    if os.environ.get("WORLD_SIZE", "1") != "1":
        raise UsageError("eval runs in one process, on one device; start it without torchrun, or unset WORLD_SIZE")
    with ExitStack() as stack:
        task = prepare(request, stack)
        path, journal = request.predictions, Journal()
        if path is not None:
            journal = stack.enter_context(open_journal(path.with_name(f"{path.name}.unfinished"), task.fingerprint()))
        for note in (*task.images.notes, *task.notes):
            say(note)
        with progress() as tell:
            _predict(task, journal, tell)
        try:
            yield _result(task, journal.finished)
        except ClosedPipeError:
            journal.remove()
            raise
        journal.remove()


def _predict(task: Task, journal: Journal, tell: Tell) -> None:
    """Compute the answers to the batches that the journal does not have."""
    chosen, running = task.chosen, task.request.running
    slices = [chosen[start : start + running.batch_size] for start in range(0, len(chosen), running.batch_size)]
    done = sum(map(len, journal.finished.values()))
    tell(done, len(chosen))
    missing = [number for number in range(len(slices)) if number not in journal.finished]
    if not missing:
        return
    indices = [index for number in missing for index in slices[number]]
    loaded = load_batches(task.images, indices, task.pipeline, running)
    computed = predict_batches(task.loaded.model, loaded, running)
    for at, (number, answer) in enumerate(zip(missing, computed, strict=True), 1):
        journal.add(number, answer)
        done += len(answer)
        if not at % running.threads:  # the threads' batches are done at about the same time
            tell(done, len(chosen))


def _result(task: Task, answers: Mapping[int, BatchAnswers]) -> AuditResult:
    """Write the predictions where a file is named for them, then judge the cells."""
    ids, labels, path = task.images.ids, task.images.labels, task.request.predictions
    in_order = (answer for number in sorted(answers) for answer in answers[number])
    chosen = zip(task.chosen, in_order, strict=True)
    predictions = [Prediction(ids[index], labels[index], answer) for index, answer in chosen]
    if path is not None:
        write_predictions(path, predictions)
    hints = (*task.images.notes, *task.notes, *_unreadable(task, predictions))
    checks = tuple(_judge(task, score, predictions, hints) for score in task.cells)
    return AuditResult(papers=(paper_head(task.request.weights.row.paper),), versions=list_versions(), checks=checks)


def _judge(task: Task, score: ScoreCell, predictions: Sequence[Prediction], hints: Sequence[str]) -> Check:
    answered = [one for one in predictions if one.answer is not None]
    accuracy = record_accuracy(
        score.column.metric,
        [one.right(score.column.metric.guesses) for one in answered],
        [(one.image, one.labels) for one in answered],
        available=len(task.images.ids),
        unreadable=len(predictions) - len(answered),
        unlabelled=sum(not accepted for accepted in task.images.labels),
        checkpoint=task.checkpoint,
        settings=task.settings(),
        contents=task.contents,
    )
    check = judge(EvaluatedCell(score.cell, score.column, accuracy, task.loaded.reading))
    return check.model_copy(update={"hints": (*check.hints, *hints)})


def _unreadable(task: Task, predictions: Sequence[Prediction]) -> Iterator[str]:
    """Name the images that could not be read, with the reason for each."""
    lost = [index for index, one in zip(task.chosen, predictions, strict=True) if one.answer is None]
    for index in lost[:_NAMED]:
        yield f"not read: {why_unreadable(task.images, index)}"
    if len(lost) > _NAMED:
        yield f"not read: {count_of(len(lost) - _NAMED, 'more image')}; the file of predictions names them"
