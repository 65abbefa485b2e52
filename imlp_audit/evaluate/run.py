"""Run an evaluation from its request to a result.

The result is the same to the last bit whether the run was resumed, shared among processes, or done in one go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import torch
from torch import Tensor, nn

from imlp_audit.errors import BuildError, ClosedPipeError
from imlp_audit.evaluate.claim import claim_folder
from imlp_audit.evaluate.data.images import Images
from imlp_audit.evaluate.evidence import judge_cells
from imlp_audit.evaluate.loop import Computing, OutOfMemoryError, Pipeline, load_batches, predict_batches
from imlp_audit.evaluate.part_file import BatchAnswers, ResumableRun
from imlp_audit.evaluate.parts import EVERY, Journal, Parts, open_parts
from imlp_audit.evaluate.predictions import ModelAnswer, Prediction, write_predictions
from imlp_audit.evaluate.request import Request
from imlp_audit.evaluate.sharding import Group
from imlp_audit.evaluate.task import Task, list_versions, prepare
from imlp_audit.processes.interrupts import on_interrupt
from imlp_audit.records.result import AuditResult
from imlp_audit.spec.paper import paper_head

Say: TypeAlias = Callable[[str], None]
Tell: TypeAlias = Callable[[int, int], None]
Progress: TypeAlias = Callable[[], AbstractContextManager[Tell]]
Loaded: TypeAlias = Iterable[tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Steps:
    """The steps of an evaluation. A test may replace one, to watch it or to break it off."""

    prepare: Callable[[Request, torch.device, ExitStack], Task] = prepare
    open_parts: Callable[[Path, ResumableRun, int, bool], Parts] = open_parts
    load: Callable[[Images, Sequence[int], Pipeline, int, int, torch.device], Loaded] = load_batches
    predict: Callable[[nn.Module, Loaded, Computing], Iterator[tuple[ModelAnswer | None, ...]]] = predict_batches
    seconds_between_parts: float = EVERY


STEPS = Steps()


@contextmanager
def run_evaluation(
    request: Request, group: Group, say: Say, progress: Progress, steps: Steps | None = None
) -> Iterator[AuditResult | None]:
    """Evaluate, and yield the result to the leading process, None to the others.

    The files that a later run could resume from are removed once the caller has finished with the result. `say` takes
    notes for the user; `progress` opens a callback that takes how many images this process has done, and of how many; a
    count that comes twice begins the pace anew.
    """
    steps = steps or STEPS
    with ExitStack() as stack:
        task = group.agree_on(lambda: steps.prepare(request, _device(request, group), stack))
        parts = _open(task, group, steps, stack)
        for note in (*task.images.notes, *task.notes):
            say(note)
        with progress() as tell:
            batch_size, answers = _Predicting(task, parts, group, steps, tell).run(say)
        try:
            yield _result(task, batch_size, answers) if group.leads else None
        except ClosedPipeError:
            _remove(parts, group)
            raise
        _remove(parts, group)


def _device(request: Request, group: Group) -> torch.device:
    return torch.device("cuda", group.local) if request.running.device == "cuda" else torch.device("cpu")


def _open(task: Task, group: Group, steps: Steps, stack: ExitStack) -> Parts | None:
    """Open the folder of parts beside the predictions, in the leading process first; None without predictions.

    The leading process claims it, for as long as `stack` is open.
    """
    path, resume = task.request.predictions, task.request.resume
    if path is None:
        return None
    folder, size = path.with_name(f"{path.name}.parts"), task.request.running.batch_size
    run = ResumableRun(task.fingerprint(), len(task.chosen), task.classes)
    group.agree_on(lambda: stack.enter_context(claim_folder(folder)) if group.leads else None)
    first = group.agree_on(lambda: steps.open_parts(folder, run, size, resume) if group.leads else None)
    return group.agree_on(lambda: first or steps.open_parts(folder, run, size, True))


def _remove(parts: Parts | None, group: Group) -> None:
    """Remove the parts on every machine, once the leading process has all it needs."""
    group.exchange(None)
    if parts is not None:
        parts.remove()


@dataclass(frozen=True)
class _Predicting:
    """The predictions of one process, and their exchange with the others."""

    task: Task
    parts: Parts | None
    group: Group
    steps: Steps
    tell: Tell

    def run(self, say: Say) -> tuple[int, Mapping[int, BatchAnswers]]:
        """Return the batch size, halved until batches fit into memory in every process, and the answers by batch."""
        asked = self.parts.batch_size if self.parts is not None else self.task.request.running.batch_size
        batch_size = min(self.group.exchange(asked))
        while True:
            if self.parts is not None and self.parts.batch_size != batch_size:
                self.parts.restart(batch_size)
            answers: dict[int, BatchAnswers] = {}
            fits = batch_size
            try:
                answers = self._share(batch_size)
            except OutOfMemoryError as error:
                if batch_size == 1:
                    raise BuildError("memory runs out on a single image; use a device with more memory") from error
                fits = batch_size // 2
            smallest = min(self.group.exchange(fits))
            if smallest == batch_size:
                everyone = self.group.exchange(answers)
                return batch_size, {number: answer for one in everyone for number, answer in one.items()}
            say(f"memory ran out with batches of {batch_size} images; starting again with {smallest}")
            torch.cuda.empty_cache()
            batch_size = smallest

    def _share(self, batch_size: int) -> dict[int, BatchAnswers]:
        """Return the answers to this process's batches, read from an earlier run's parts or computed."""
        chosen = self.task.chosen
        slices = [chosen[start : start + batch_size] for start in range(0, len(chosen), batch_size)]
        mine = self.group.share(len(slices))
        earlier = self.parts.read_finished() if self.parts is not None else {}
        answers = {number: earlier[number] for number in mine if number in earlier}
        total, done = sum(len(slices[number]) for number in mine), sum(map(len, answers.values()))
        self.tell(done, total)
        threads = self.task.computing.threads
        missing = [number for number in mine if number not in answers]
        if not missing:
            return answers
        loaded = self._load([index for number in missing for index in slices[number]], batch_size)
        with closing(Journal(self.parts, self.steps.seconds_between_parts)) as journal, on_interrupt(journal.close):
            begun = _tell_at_first(loaded, lambda: self.tell(done, total))
            computed = self.steps.predict(self.task.model, begun, self.task.computing)
            for at, (number, answer) in enumerate(zip(missing, computed, strict=True), 1):
                journal.add(number, answer)
                answers[number] = answer
                done += len(answer)
                if not at % threads:  # the threads' batches are done at about the same time
                    self.tell(done, total)
                if at == threads:  # the first are slow, beside workers that load ahead: the pace begins behind them
                    self.tell(done, total)
        return answers

    def _load(self, indices: Sequence[int], batch_size: int) -> Loaded:
        task, workers = self.task, self.task.request.running.workers
        return self.steps.load(task.images, indices, task.pipeline, batch_size, workers, task.computing.device)


def _tell_at_first(loaded: Loaded, tell: Callable[[], None]) -> Loaded:
    """Yield what is loaded, and tell when the first is: to start the loading is not part of the images' pace."""
    for number, batch in enumerate(loaded):
        if not number:
            tell()
        yield batch


def _result(task: Task, batch_size: int, answers: Mapping[int, BatchAnswers]) -> AuditResult:
    """Write the predictions where a file is named for them, then judge the cells."""
    predictions, path = _predictions(task, answers), task.request.predictions
    if path is not None:
        write_predictions(path, predictions)
    checks = judge_cells(task, predictions, task.settings(batch_size))
    return AuditResult(papers=(paper_head(task.request.weights.row.paper),), versions=list_versions(), checks=checks)


def _predictions(task: Task, answers: Mapping[int, BatchAnswers]) -> Sequence[Prediction]:
    ids, labels = task.images.ids, task.images.labels
    in_order = (answer for number in sorted(answers) for answer in answers[number])
    return [Prediction(ids[index], labels[index], answer) for index, answer in zip(task.chosen, in_order, strict=True)]
