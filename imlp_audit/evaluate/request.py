"""What is to be evaluated, and everything that is settled, and can fail, before the first batch."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import torch

from imlp_audit import __version__
from imlp_audit.cache.store import fingerprint_folder
from imlp_audit.checkpoint.contents import hash_file
from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.datasets import Data, check_classes, open_images
from imlp_audit.evaluate.images import Images, choose_stratified, data_digest, hash_images
from imlp_audit.evaluate.inference import Pipeline, Preparation, Running
from imlp_audit.evaluate.verdict import MOST_UNREADABLE, ScoreCell, score_cells
from imlp_audit.evaluate.weights import Weighted, Weights, choose_reading, with_weights
from imlp_audit.numbers.interval import readable
from imlp_audit.spec.columns import SIZES, AccuracyColumn
from imlp_audit.spec.paper import CellRef, RowRef, preprocessing_of
from imlp_audit.spec.schema import Preprocessing


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
    preparation = Preparation(request.preprocessing, preprocessing_of(weights.row))
    loaded = stack.enter_context(with_weights(weights, preparation.side))
    check_classes(images, loaded.classes)
    chosen = choose_stratified(images.labels, request.data.limit or len(images.ids), images.ids)
    if not chosen:
        raise DatasetError(f"{request.data.source}: no image has a label, so nothing can be judged")
    _check_count(cells, images, chosen, request)
    model = loaded.model.to(request.running.device)
    return Task(
        request=request,
        loaded=loaded,
        checkpoint=hash_file(loaded.checkpoint),
        images=images,
        chosen=chosen,
        contents=sha256(repr(hash_images(images, chosen)).encode()).hexdigest(),
        cells=cells,
        pipeline=preparation.pipeline(model, loaded.size),
        notes=(*assumed, *loaded.notes, *preparation.notes(model, loaded.size)),
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
