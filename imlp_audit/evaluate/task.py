"""Everything that is settled before the first batch, and whatever can go wrong by then."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import version

import torch
from torch import nn

from imlp_audit import __version__
from imlp_audit.checkpoint.contents import hash_file
from imlp_audit.errors import DatasetError, UsageError
from imlp_audit.evaluate.against import Run, other_run
from imlp_audit.evaluate.dataset import Images, check_classes, open_images
from imlp_audit.evaluate.limit import stratified
from imlp_audit.evaluate.loop import Computing
from imlp_audit.evaluate.outcomes import data_digest
from imlp_audit.evaluate.pipeline import Pipeline, pipeline
from imlp_audit.evaluate.request import Data, Request
from imlp_audit.evaluate.verdict import score_cells
from imlp_audit.evaluate.weights import reading_of, with_weights
from imlp_audit.spec.references import CellRef, RowRef
from imlp_audit.spec.tables import AccuracyColumn

KNOWN = ("imagenet-1k", "imagenet-real", "imagenet-v2")
"""Names that images get by what they are, not by the folder they lie in."""


@dataclass(frozen=True)
class Task:
    """A model with its weights, the chosen images, and the cells that are judged, each with the run it is held against.

    `notes` say what was taken for granted on the way here.
    """

    model: nn.Module
    reading: str | None
    checkpoint: str
    images: Images
    chosen: tuple[int, ...]
    cells: tuple[tuple[CellRef, Run | None], ...]
    pipeline: Pipeline
    computing: Computing
    notes: tuple[str, ...]
    request: Request

    def settings(self, batch_size: int) -> dict[str, str]:
        """Return by name what the answers depend on beside model, weights and images."""
        running, data = self.request.running, self.request.data
        return {
            "data": self.images.name,
            "images": "all" if data.limit is None else f"{len(self.chosen)}, stratified",
            "batch size": str(batch_size),
            "device": torch.cuda.get_device_name() if running.device == "cuda" else "cpu",
            "precision": f"autocast to {_name(self.computing.low_precision)}" if running.amp else _name(torch.float32),
            "memory layout": "channels last" if running.channels_last else "contiguous",
            **self.pipeline.settings(),
        }

    def pinned(self) -> dict[str, str]:
        """Return by name everything that an answer depends on, so that an unfinished run is resumed as it began."""
        row = self.request.weights.row
        return {
            **self.settings(self.request.running.batch_size),
            **{f"version of {name}": one for name, one in versions().items()},
            "checkpoint": self.checkpoint,
            "state": self.request.weights.state or "the first",
            "model": f"{row.id}: {row.row.model} under {self.reading}",
            "ids and labels": data_digest(_described(self.images, self.chosen)),
            "processor": torch.backends.cpu.get_cpu_capability(),
        }


def prepared(request: Request, device: torch.device, stack: ExitStack) -> Task:
    """Read the weights, find the images, and hold the two against each other; `stack` keeps the model as it is built.

    Raises what keeps an evaluation from beginning.
    """
    weights, running = request.weights, request.running
    reading = reading_of(weights.row, weights.reading)
    images = open_images(
        request.data.source,
        split=request.data.split,
        class_map=request.data.class_map,
        real_labels=request.data.real_labels,
        allow_download=request.data.allow_download,
    )
    cells, taken = _cells(weights.row, request.data, images)
    loaded = stack.enter_context(
        with_weights(weights.row, weights.reading, weights.checkpoint, weights.state, request.overrides.size)
    )
    check_classes(images, loaded.classes)
    chosen = stratified(images.labels, request.data.limit or len(images.ids), images.ids)
    if not chosen:
        raise DatasetError(f"{request.data.source}: no image has a label, so nothing can be judged")
    others = tuple(other_run(cell, *request.against) if request.against is not None else None for cell in cells)
    _check_same_images(others, _described(images, chosen), request)
    computing = Computing(device, running.threads if device.type == "cpu" else 1, running.amp, running.channels_last)
    model = loaded.model.to(device).to(memory_format=computing.memory_format)
    return Task(
        model=model,
        reading=reading,
        checkpoint=hash_file(weights.checkpoint),
        images=images,
        chosen=chosen,
        cells=tuple(zip(cells, others, strict=True)),
        pipeline=pipeline(model, loaded.size, request.overrides),
        computing=computing,
        notes=(*taken, *loaded.notes),
        request=request,
    )


def versions() -> dict[str, str]:
    """Return the versions of everything that decodes images and computes."""
    return {"imlp_audit": __version__, **{name: version(name) for name in ("torch", "torchvision", "timm", "pillow")}}


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _cells(row: RowRef, data: Data, images: Images) -> tuple[tuple[CellRef, ...], tuple[str, ...]]:
    """Return the cells that are judged, and what is taken for granted where nothing shows what the images are."""
    columns = [CellRef(row, name).column for name in row.row.printed]
    known = {column.data for column in columns if isinstance(column, AccuracyColumn)}
    named = data.on or (images.name if images.name in {*known, *KNOWN} else None)
    cells = score_cells(row, named)
    if named is not None:
        return cells, ()
    return cells, (f"the images are taken for those of {' or '.join(known)}; nothing in {images.name} shows it",)


def _described(images: Images, chosen: Sequence[int]) -> list[tuple[str, tuple[int, ...]]]:
    return [(images.ids[index], images.labels[index]) for index in chosen]


def _check_same_images(
    others: Sequence[Run | None], described: Sequence[tuple[str, tuple[int, ...]]], request: Request
) -> None:
    """Raise UsageError for an earlier run over other images, before the work is done that could not be paired then."""
    digest_here = data_digest(described)
    if request.against is not None and any(
        other is not None and not other.found.unreadable and other.found.data != digest_here for other in others
    ):
        raise UsageError(
            f"{request.against[1]} is not over these images; evaluate both with the same --data and --limit"
        )
