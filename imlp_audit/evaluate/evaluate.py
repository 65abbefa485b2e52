"""An evaluation from its request to a result: sharded, resumable, the same to the last bit however it came about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager

import torch

from imlp_audit.errors import BuildError, ClosedPipeError
from imlp_audit.evaluate.judging import checks
from imlp_audit.evaluate.loop import OutOfMemoryError, answers
from imlp_audit.evaluate.parts import Answers, Journal, Parts, open_parts
from imlp_audit.evaluate.pipeline import batches
from imlp_audit.evaluate.predictions import Prediction, write_predictions
from imlp_audit.evaluate.request import Request
from imlp_audit.evaluate.sharding import Group
from imlp_audit.evaluate.task import Task, prepared, versions
from imlp_audit.interrupts import on_interrupt
from imlp_audit.records.result import AuditResult
from imlp_audit.spec.paper import paper_head

Say = Callable[[str], None]
Tell = Callable[[int, int], None]
Progress = Callable[[], AbstractContextManager[Tell]]


@contextmanager
def evaluation(request: Request, group: Group, say: Say, progress: Progress) -> Iterator[AuditResult | None]:
    """Evaluate, and yield the result to the leading process, None to the others.

    What a later run could resume from is removed once the caller has done with the result. `say` is told what the user
    should know, what `progress` opens how many images of how many this process has done.
    """
    with ExitStack() as stack:
        task = group.agreed(lambda: prepared(request, _device(request, group), stack))
        parts = _opened(task, group)
        for note in (*task.images.notes, *task.notes):
            say(note)
        with progress() as tell:
            batch_size, found = _answered(task, parts, group, say, tell)
        try:
            yield _result(task, batch_size, found) if group.leads else None
        except ClosedPipeError:
            _remove(parts, group)
            raise
        _remove(parts, group)


def _device(request: Request, group: Group) -> torch.device:
    return torch.device("cuda", group.local) if request.running.device == "cuda" else torch.device("cpu")


def _opened(task: Task, group: Group) -> Parts | None:
    """Return where this process keeps its parts: a folder beside the predictions, which the leading one opens first."""
    path, resume = task.request.predictions, task.request.resume
    if path is None:
        return None
    folder, pinned, size = path.with_name(f"{path.name}.parts"), task.pinned(), task.request.running.batch_size
    first = group.agreed(lambda: open_parts(folder, pinned, size, resume=resume) if group.leads else None)
    return group.agreed(lambda: first or open_parts(folder, pinned, size, resume=True))


def _remove(parts: Parts | None, group: Group) -> None:
    """Remove the parts, on machines that don't share a folder too, once the leading process has all it needs."""
    group.exchange(None)
    if parts is not None:
        parts.remove()


def _answered(task: Task, parts: Parts | None, group: Group, say: Say, tell: Tell) -> tuple[int, Mapping[int, Answers]]:
    """Return the size of the batches, halved until they fit into memory everywhere, and the answers by batch."""
    asked = parts.batch_size if parts is not None else task.request.running.batch_size
    batch_size, tried = min(group.exchange(asked)), asked
    while True:
        if parts is not None and parts.batch_size != batch_size:
            parts.restart(batch_size)
        found: dict[int, Answers] = {}
        try:
            found = _share(task, parts, group, batch_size, tell)
            tried = batch_size
        except OutOfMemoryError as error:
            if batch_size == 1:
                raise BuildError("memory runs out on a single image; a device with more of it is needed") from error
            tried = batch_size // 2
        smallest = min(group.exchange(tried))
        if smallest == batch_size:
            return batch_size, {number: held for one in group.exchange(found) for number, held in one.items()}
        say(f"memory ran out with batches of {batch_size} images; beginning anew with {smallest}")
        torch.cuda.empty_cache()
        batch_size = smallest


def _share(task: Task, parts: Parts | None, group: Group, batch_size: int, tell: Tell) -> dict[int, Answers]:
    """Return the answers to the batches of this process: finished by an earlier run, or computed."""
    slices = [task.chosen[start : start + batch_size] for start in range(0, len(task.chosen), batch_size)]
    mine = group.share(len(slices))
    earlier = parts.finished() if parts is not None else {}
    found = {number: earlier[number] for number in mine if number in earlier}
    total, done = sum(len(slices[number]) for number in mine), sum(map(len, found.values()))
    tell(done, total)
    open_ = [number for number in mine if number not in found]
    indices = [index for number in open_ for index in slices[number]]
    if not indices:
        return found
    loader = batches(
        task.images, indices, task.pipeline, batch_size, task.request.running.workers, task.computing.device
    )
    with closing(Journal(parts)) as journal, on_interrupt(journal.close):
        for number, answered in zip(open_, answers(task.model, loader, task.computing), strict=True):
            journal.add(number, answered)
            found[number] = answered
            done += len(answered)
            tell(done, total)
    return found


def _result(task: Task, batch_size: int, found: Mapping[int, Answers]) -> AuditResult:
    """Judge, once the predictions are written where that is asked for."""
    predictions, path = _predictions(task, found), task.request.predictions
    if path is not None:
        write_predictions(path, predictions)
    judged = checks(task, predictions, task.settings(batch_size))
    return AuditResult(papers=(paper_head(task.request.weights.row.paper),), versions=versions(), checks=judged)


def _predictions(task: Task, found: Mapping[int, Answers]) -> Sequence[Prediction]:
    ids, labels = task.images.ids, task.images.labels
    answered = (answer for number in sorted(found) for answer in found[number])
    return [Prediction(ids[index], labels[index], answer) for index, answer in zip(task.chosen, answered, strict=True)]
