"""An evaluation: what is settled before the first batch, and the run, whose result is the same if it was resumed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import TypeAlias

import torch

from imlp_audit import __version__
from imlp_audit.cache.store import fingerprint_folder
from imlp_audit.checkpoint.contents import hash_file
from imlp_audit.errors import ClosedPipeError, DatasetError, UsageError
from imlp_audit.evaluate.datasets import Data, check_classes, open_images
from imlp_audit.evaluate.images import Images, choose_stratified, data_digest, hash_images, why_unreadable
from imlp_audit.evaluate.predictions import (
    BatchAnswers,
    Journal,
    Pipeline,
    Prediction,
    Running,
    load_batches,
    open_journal,
    predict_batches,
    resolve_pipeline,
    write_predictions,
)
from imlp_audit.evaluate.verdict import DIGITS, MOST_UNREADABLE, EvaluatedCell, Sample, ScoreCell, judge, score_cells
from imlp_audit.evaluate.weights import Weighted, Weights, choose_reading, with_weights
from imlp_audit.numbers.interval import decimal_text, readable
from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import Accuracy, Check
from imlp_audit.records.result import AuditResult
from imlp_audit.spec.columns import SIZES, AccuracyColumn
from imlp_audit.spec.paper import CellRef, RowRef, paper_head, preprocessing_of
from imlp_audit.spec.schema import Preprocessing

Say: TypeAlias = Callable[[str], None]
Tell: TypeAlias = Callable[[int, int], None]
Progress: TypeAlias = Callable[[], AbstractContextManager[Tell]]
_NAMED = 10  # unreadable images named in a hint; the file of predictions names all


@dataclass(frozen=True)
class Request:
    """An evaluation.

    `preprocessing` is how the user wants images prepared. `predictions` is the file for the model's answers; an
    unfinished run is continued from the journal beside it.
    """

    weights: Weights
    data: Data
    preprocessing: Preprocessing | None = None
    running: Running = field(default_factory=Running)
    predictions: Path | None = None


@dataclass(frozen=True)
class Task:
    """A model with its weights, the chosen images, and the cells to judge.

    `checkpoint` is a digest of the weights' file, `contents` one of the images' bytes, `notes` state what was assumed.
    """

    request: Request
    loaded: Weighted
    checkpoint: str
    images: Images
    chosen: tuple[int, ...]
    contents: str
    cells: tuple[ScoreCell, ...]
    pipeline: Pipeline
    notes: tuple[str, ...]

    def settings(self) -> dict[str, str]:
        """Return, by name, the settings that the answers depend on in addition to model, weights and images."""
        running, data = self.request.running, self.request.data
        return {
            "data": self.images.name,
            "classes": self.images.order,
            "images": "all" if data.limit is None else f"{len(self.chosen)}, stratified",
            "batch size": str(running.batch_size),
            "device": torch.cuda.get_device_name() if running.device == "cuda" else "cpu",
            "precision": f"autocast to {_name(running.low_precision)}" if running.amp else _name(torch.float32),
            **self.pipeline.settings(),
            **self.loaded.settings,
        }

    def fingerprint(self) -> dict[str, str]:
        """Return, by name, everything that an answer depends on, so that a run is only resumed as it began."""
        row, data = self.request.weights.row, self.request.data
        ids, labels = self.images.ids, self.images.labels
        return {
            **self.settings(),
            **{f"version of {name}": one for name, one in list_versions().items()},
            "checkpoint": self.checkpoint,
            "state": self.request.weights.state or "the one that fits",
            "model": f"{row.id}: {row.row.model} under {self.loaded.reading}",
            "images from": f"{data.source}, {data.split}",  # other images may have the same names, as ImageNet-C's do
            "ids and labels": data_digest([(ids[one], labels[one]) for one in self.chosen]),
            "bytes of the images": self.contents,
            "code of the model": code_digest(row),
            "processor": torch.backends.cpu.get_cpu_capability(),
        }


def prepare(request: Request, stack: ExitStack) -> Task:
    """Load the weights, open the images, and check that the two fit; `stack` keeps the model alive.

    Raises whatever error keeps an evaluation from starting.
    """
    weights = request.weights
    choose_reading(weights.row, weights.reading)
    images = open_images(request.data)
    cells, assumed = _cells(weights.row, request.data, images)
    stated = preprocessing_of(weights.row)[:1]
    sources = stated if request.preprocessing is None else (request.preprocessing, *stated)
    side = next((one.size for one in sources if one.size is not None), None)
    loaded = stack.enter_context(with_weights(weights, side))
    check_classes(images, loaded.classes)
    chosen = choose_stratified(images.labels, request.data.limit or len(images.ids), images.ids)
    if not chosen:
        raise DatasetError(f"{request.data.source}: no image has a label, so nothing can be judged")
    _check_count(cells, images, chosen, request)
    model = loaded.model.to(request.running.device)
    prepared = "the spec does not say how images are prepared, so timm's configuration of the model decides"
    if stated:
        prepared = f"images prepared as {stated[0].because} says"
    return Task(
        request=request,
        loaded=loaded,
        checkpoint=hash_file(loaded.checkpoint),
        images=images,
        chosen=chosen,
        contents=sha256(repr(hash_images(images, chosen)).encode()).hexdigest(),
        cells=cells,
        pipeline=resolve_pipeline(model, loaded.size, *sources),
        notes=(*assumed, *loaded.notes, prepared),
    )


def list_versions() -> dict[str, str]:
    """Return the versions of the packages that decode images and compute."""
    return {"imlp_audit": __version__, **{name: version(name) for name in ("torch", "torchvision", "timm", "pillow")}}


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def code_digest(row: RowRef) -> str:
    """Return a digest of all Python beside a model of the user's own; other models are known by their version."""
    code = row.row.model.code if row.row.model is not None else None
    return fingerprint_folder(code.folder) if code is not None and code.folder is not None else "of a package"


def _cells(row: RowRef, data: Data, images: Images) -> tuple[tuple[ScoreCell, ...], tuple[str, ...]]:
    """Return the cells to judge, and a note on what was assumed if nothing shows which data set the images are."""
    columns = [CellRef(row, name).column for name in row.row.printed]
    known = {column.data for column in columns if isinstance(column, AccuracyColumn)}
    named = data.on or (images.name if images.name in {*known, *SIZES} else None)
    cells = score_cells(row, named)
    if named is not None:
        return cells, ()
    return cells, (
        f"the images in {images.name} are taken for those of {cells[0].column.data}, the only data set of {row.id}",
    )


def _check_count(cells: Sequence[ScoreCell], images: Images, chosen: Sequence[int], request: Request) -> None:
    """Raise DatasetError for more images than the data set has, even if as many as allowed are unreadable."""
    labelled = sum(map(bool, images.labels))
    for data, size in {one.column.data: one.column.size for one in cells}.items():
        if size is not None and labelled - MOST_UNREADABLE * len(chosen) > size:
            raise DatasetError(
                f"{request.data.source} has {readable(labelled)} images with a label, but {data} has {readable(size)}; "
                "give its images alone, or say with --on which data set they are"
            )


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
    done = sum(map(len, journal.finished))
    tell(done, len(chosen))
    if done == len(chosen):
        return
    loaded = load_batches(task.images, chosen[done:], task.pipeline, running)
    for number, answer in enumerate(predict_batches(task.loaded.model, loaded, running), 1):
        journal.add(answer)
        done += len(answer)
        if not number % running.threads:  # the threads' batches are done at about the same time
            tell(done, len(chosen))


def _result(task: Task, finished: Sequence[BatchAnswers]) -> AuditResult:
    """Write the predictions where a file is named for them, then judge the cells."""
    ids, labels, path = task.images.ids, task.images.labels, task.request.predictions
    chosen = zip(task.chosen, chain.from_iterable(finished), strict=True)
    predictions = [Prediction(ids[index], labels[index], answer) for index, answer in chosen]
    if path is not None:
        write_predictions(path, predictions)
    hints = (*task.images.notes, *task.notes, *_unreadable(task, predictions))
    checks = tuple(_judge(task, score, predictions, hints) for score in task.cells)
    return AuditResult(papers=(paper_head(task.request.weights.row.paper),), versions=list_versions(), checks=checks)


def _judge(task: Task, score: ScoreCell, predictions: Sequence[Prediction], hints: Sequence[str]) -> Check:
    answered, metric = [one for one in predictions if one.answer is not None], score.column.metric
    sample = Sample(
        correct=sum(one.right(metric.guesses) for one in answered),
        unreadable=len(predictions) - len(answered),
        images=len(predictions),
    )
    accuracy = Accuracy(
        metric=metric,
        correct=sample.correct,
        images=len(answered),
        available=len(task.images.ids),
        unreadable=sample.unreadable,
        unlabelled=sum(not accepted for accepted in task.images.labels),
        low=decimal_text(sample.interval.low, DIGITS),
        high=decimal_text(sample.interval.high, DIGITS),
        checkpoint=task.checkpoint,
        data=data_digest([(one.image, one.labels) for one in answered]),
        contents=task.contents,
        settings=task.settings(),
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
