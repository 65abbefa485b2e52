"""Run an evaluation from its request to a result, alone or in one of several processes that torchrun started.

The result is the same to the last bit whether the run was resumed, shared among processes, or done in one go. Each of N
processes takes every N-th batch.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias, TypeVar

import torch
from torch import distributed

from imlp_audit.errors import BuildError, ClosedPipeError, UsageError
from imlp_audit.evaluate.images import why_unreadable
from imlp_audit.evaluate.loop import load_batches, predict_batches
from imlp_audit.evaluate.paired import EvaluatedCell, judge_difference
from imlp_audit.evaluate.predictions import BatchAnswers, Journal, Prediction, open_journal, write_predictions
from imlp_audit.evaluate.task import Request, Task, list_versions, prepare
from imlp_audit.evaluate.verdict import ScoreCell, judge, record_accuracy
from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import Check
from imlp_audit.records.evidence import Accuracy
from imlp_audit.records.result import AuditResult
from imlp_audit.spec.paper import paper_head

Say: TypeAlias = Callable[[str], None]
Tell: TypeAlias = Callable[[int, int], None]
Progress: TypeAlias = Callable[[], AbstractContextManager[Tell]]
Value = TypeVar("Value")
_NAMED = 10  # unreadable images named in a hint; the file of predictions names all
_START = "start the processes with torchrun, or unset WORLD_SIZE and the like for one process"
_PATIENCE = timedelta(days=7)  # for the slowest process; if one dies, torchrun ends the others


@contextmanager
def run_evaluation(request: Request, group: Group, say: Say, progress: Progress) -> Iterator[AuditResult | None]:
    """Evaluate, and yield the result to the leading process, None to the others.

    The journal that a later run could continue from is removed once the caller has finished with the result. `say`
    takes notes for the user; `progress` opens a callback that takes how many images this process has done, and of how
    many.
    """
    with ExitStack() as stack:
        task = prepare(request, _device(request, group), stack)
        journal = _open(task, group, stack)
        for note in (*task.images.notes, *task.notes):
            say(note)
        with progress() as tell:
            everyone = group.exchange(_predict(task, journal, group, tell))
        answers = {number: answer for one in everyone for number, answer in one.items()}
        try:
            yield _result(task, answers) if group.leads else None
        except ClosedPipeError:
            _remove(journal, group)
            raise
        _remove(journal, group)


def _device(request: Request, group: Group) -> torch.device:
    return torch.device("cuda", group.local) if request.running.device == "cuda" else torch.device("cpu")


def _open(task: Task, group: Group, stack: ExitStack) -> Journal | None:
    """Open the journal beside the predictions, in the leading process first; None without predictions."""
    path = task.request.predictions
    if path is None:
        return None
    if not group.leads:
        group.exchange(None)
    unfinished = path.with_name(f"{path.name}.unfinished")
    journal = stack.enter_context(open_journal(unfinished, task.fingerprint(), group.leads))
    if group.leads:
        group.exchange(None)
    return journal


def _remove(journal: Journal | None, group: Group) -> None:
    """Remove the journal on every machine, once the leading process has all it needs."""
    group.exchange(None)
    if journal is not None:
        journal.path.unlink(missing_ok=True)


def _predict(task: Task, journal: Journal | None, group: Group, tell: Tell) -> dict[int, BatchAnswers]:
    """Return the answers to this process's batches by number, from the journal or computed."""
    chosen, running, threads = task.chosen, task.request.running, task.computing.threads
    slices = [chosen[start : start + running.batch_size] for start in range(0, len(chosen), running.batch_size)]
    mine = group.share(len(slices))
    earlier = journal.finished if journal is not None else {}
    answers = {number: earlier[number] for number in mine if number in earlier}
    total, done = sum(len(slices[number]) for number in mine), sum(map(len, answers.values()))
    tell(done, total)
    missing = [number for number in mine if number not in answers]
    if not missing:
        return answers
    indices = [index for number in missing for index in slices[number]]
    loaded = load_batches(
        task.images, indices, task.pipeline, running.batch_size, running.workers, task.computing.device
    )
    computed = predict_batches(task.model, loaded, task.computing)
    for at, (number, answer) in enumerate(zip(missing, computed, strict=True), 1):
        if journal is not None:
            journal.add(number, answer)
        answers[number] = answer
        done += len(answer)
        if not at % threads:  # the threads' batches are done at about the same time
            tell(done, total)
    return answers


def _result(task: Task, answers: Mapping[int, BatchAnswers]) -> AuditResult:
    """Write the predictions where a file is named for them, then judge the cells."""
    predictions, path = _predictions(task, answers), task.request.predictions
    if path is not None:
        write_predictions(path, predictions)
    checks = _judge_cells(task, predictions, task.settings())
    return AuditResult(papers=(paper_head(task.request.weights.row.paper),), versions=list_versions(), checks=checks)


def _predictions(task: Task, answers: Mapping[int, BatchAnswers]) -> Sequence[Prediction]:
    ids, labels = task.images.ids, task.images.labels
    in_order = (answer for number in sorted(answers) for answer in answers[number])
    return [Prediction(ids[index], labels[index], answer) for index, answer in zip(task.chosen, in_order, strict=True)]


def _judge_cells(task: Task, predictions: Sequence[Prediction], settings: Mapping[str, str]) -> tuple[Check, ...]:
    """Judge each cell and, if an earlier run was given, the printed difference from it."""
    hints = (*task.images.notes, *task.notes, *_unreadable(task, predictions))
    return tuple(
        check.model_copy(update={"hints": (*check.hints, *hints)})
        for score, other in task.cells
        for check in _judge(task, score, other, _accuracy(task, score, predictions, settings))
    )


def _judge(task: Task, score: ScoreCell, other: EvaluatedCell | None, accuracy: Accuracy) -> Iterator[Check]:
    yield judge(score.cell, accuracy, task.reading)
    if other is not None:
        yield judge_difference(EvaluatedCell(score.cell, accuracy, task.reading), other)


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


@dataclass(frozen=True)
class Group:
    """The `size` processes of an evaluation; this one is number `rank`, and number `local` on its machine."""

    rank: int = 0
    size: int = 1
    local: int = 0

    @property
    def leads(self) -> bool:
        """Whether this is the process that prints and writes."""
        return self.rank == 0

    def share(self, batches: int) -> range:
        """Return the numbers of this process's batches; together the processes take each batch once."""
        return range(self.rank, batches, self.size)

    def exchange(self, mine: Value) -> list[Value]:
        """Return the values of all processes, in order, once each has given its own."""
        if self.size == 1:
            return [mine]
        values: list[Value] = [mine] * self.size
        distributed.all_gather_object(values, mine)
        return values


@contextmanager
def open_group(device: str) -> Iterator[Group]:
    """Yield the group that torchrun started this process in, or a group of this process alone.

    CPU processes communicate by gloo, GPU processes by NCCL, each on its own GPU. Raises BuildError, and UsageError for
    variables of the environment that do not fit.
    """
    found = Group(
        *(read_number(name, default) for name, default in (("RANK", 0), ("WORLD_SIZE", 1), ("LOCAL_RANK", 0)))
    )
    if found.size == 1:
        yield Group()
        return
    if device == "cuda":
        _take_gpu(found)
    try:
        distributed.init_process_group("nccl" if device == "cuda" else "gloo", timeout=_PATIENCE)
    except ValueError as error:
        raise UsageError(f"the processes cannot meet: {error}; {_START}") from error
    yield found
    distributed.destroy_process_group()  # not after an error: another process may be waiting for this one


def read_number(name: str, default: int) -> int:
    """Return a number that torchrun sets in the environment. Raises UsageError for anything else."""
    text = os.environ.get(name, str(default))
    if not re.fullmatch("[0-9]{1,9}", text):
        raise UsageError(f"the environment variable {name} is {text[:40]!r}, which is not a whole number; {_START}")
    return int(text)


def _take_gpu(found: Group) -> None:
    there = torch.cuda.device_count()
    if found.local >= there:
        raise BuildError(f"only {count_of(there, 'GPU')} on this machine; start one process per GPU")
    torch.cuda.set_device(found.local)
