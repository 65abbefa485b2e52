"""From images to a model's answers: how images are prepared and why so, loading in batches, and prediction."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from typing import TypeVar

import torch
from torch import Tensor, nn

from imlp_audit.errors import BuildError, CheckpointError
from imlp_audit.evaluate.images import Guarded, Images
from imlp_audit.evaluate.predictions import GUESSES, ModelAnswer
from imlp_audit.models.torch_modes import with_threads
from imlp_audit.processes.limits import is_of_memory
from imlp_audit.spec.schema import Preprocessing

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Pipeline:
    """timm's preprocessing, by timm's names.

    `input_size` (channels, height, width) is that of the crop, which is `crop_pct` of the resized image.
    """

    input_size: tuple[int, int, int]
    crop_pct: float
    crop_mode: str
    interpolation: str
    mean: tuple[float, float, float]
    std: tuple[float, float, float]

    def settings(self) -> dict[str, str]:
        """Return the settings by name, as text."""
        return {
            "input size": "{} x {}".format(*self.input_size[1:]),
            "crop_pct": repr(self.crop_pct),
            "crop_mode": self.crop_mode,
            "interpolation": self.interpolation,
            "mean": ", ".join(map(repr, self.mean)),
            "std": ", ".join(map(repr, self.std)),
        }


def resolve_pipeline(model: nn.Module, size: tuple[int, int], *sources: Preprocessing) -> Pipeline:
    """Return the settings of the first source that states each, or else timm's for a model with images of a size."""
    from timm.data import resolve_data_config

    stated: dict[str, object] = {"input_size": (3, *size)}
    for one in reversed(sources):
        stated |= one.model_dump(mode="json", exclude={"rows", "because", "size"}, exclude_none=True)
    config = resolve_data_config(stated, model=model)
    return Pipeline(**{one.name: config[one.name] for one in fields(Pipeline)})


@dataclass(frozen=True)
class Running:
    """How a model is run: `workers` processes read the images, and `threads` batches are computed at a time.

    A batch is computed in a single thread, which always adds in the same order, so the answers do not depend on the
    number of threads.
    """

    device: str = "cpu"
    batch_size: int = 32
    amp: bool = False
    workers: int = 0
    threads: int = 1

    @property
    def low_precision(self) -> torch.dtype:
        """The type that `amp` computes in."""
        return torch.float16 if self.device == "cuda" else torch.bfloat16


def load_batches(
    images: Images, indices: Sequence[int], pipeline: Pipeline, running: Running
) -> Iterable[tuple[Tensor, Tensor]]:
    """Return timm's loader over the chosen images in order; the last batch holds the remainder."""
    from timm.data import create_loader
    from torchvision.transforms.functional import pil_to_tensor

    loader: Iterable[tuple[Tensor, Tensor]] = create_loader(
        Guarded(images, indices, pil_to_tensor),  # timm's loader sets the transform
        batch_size=running.batch_size,
        **asdict(pipeline),
        num_workers=running.workers,
        pin_memory=running.device == "cuda",
        device=torch.device(running.device),
        persistent_workers=False,  # they end with the last batch
    )
    return loader


def predict_batches(
    model: nn.Module, batches: Iterable[tuple[Tensor, Tensor]], running: Running
) -> Iterator[tuple[ModelAnswer | None, ...]]:
    """Yield the answers to each batch, in order.

    A batch is a tensor of normalised images (batch, channels, height, width) and a number for each image, negative if
    the image could not be read; such an image has no answer. Raises BuildError if memory runs out, and CheckpointError
    if an output is not finite.
    """
    with deterministic(), _memory_errors():
        yield from _in_order(lambda batch: _predict(model, *batch, running), batches, running.threads)


def _predict(model: nn.Module, images: Tensor, numbers: Tensor, running: Running) -> tuple[ModelAnswer | None, ...]:
    half = torch.autocast(running.device, running.low_precision, enabled=running.amp)
    with torch.inference_mode(), half:
        logits = model(images.contiguous()).float()
    # sorted, not top-k: among equal logits the first class comes first, as in argmax, on every device
    ordered = logits.argsort(dim=1, descending=True, stable=True)[:, :GUESSES]
    first = logits.softmax(dim=1).gather(1, ordered[:, :1])[:, 0]
    finite = logits.isfinite().all(dim=1)
    readable = (numbers >= 0).tolist()
    if not all(fine or not read for fine, read in zip(finite.tolist(), readable, strict=True)):
        advice = "; try without --amp" if running.amp else ""
        raise CheckpointError(f"with these weights the model's outputs are not finite numbers{advice}")
    rows = zip(ordered.tolist(), first.tolist(), readable, strict=True)
    return tuple(ModelAnswer(tuple(top5), probability) if read else None for top5, probability, read in rows)


def _in_order(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """Yield the results of some work in the items' order, several at a time; a short queue keeps every thread busy."""
    if threads == 1:
        yield from map(work, items)
        return
    pool = ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))
    waiting: deque[Future[Result]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except Exception:
        pool.shutdown(cancel_futures=True)  # whatever comes next needs the memory that these batches hold
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # an interrupt need not wait for the queued batches


@contextmanager
def deterministic() -> Iterator[None]:
    """Make a batch give the same numbers each time on one machine: one thread adds up, with a fixed cuDNN algorithm."""
    with with_threads(1), torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True):
        yield


@contextmanager
def _memory_errors() -> Iterator[None]:
    """Raise BuildError in place of torch's and Python's several errors for memory that runs out."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not is_of_memory(error):
            raise
        raise BuildError("memory ran out; give a smaller --batch-size, or use a device with more memory") from error
