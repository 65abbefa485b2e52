"""From images to a model's answers: timm's preprocessing, loading in batches, and prediction."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor, nn

from imlp_audit.errors import CheckpointError
from imlp_audit.evaluate.data.images import Guarded, Images
from imlp_audit.evaluate.overrides import Overrides
from imlp_audit.evaluate.predictions import GUESSES, ModelAnswer

Item = TypeVar("Item")
Result = TypeVar("Result")
_NO_MEMORY = ("can't allocate memory", "not enough memory", "out of memory")


class OutOfMemoryError(Exception):
    """A batch does not fit into memory."""


@dataclass(frozen=True)
class Pipeline:
    """timm's preprocessing: `size` (height, width) is that of the crop, which is `crop_pct` of the resized image."""

    size: tuple[int, int]
    crop_pct: float
    crop_mode: str
    interpolation: str
    mean: tuple[float, float, float]
    std: tuple[float, float, float]

    def settings(self) -> dict[str, str]:
        """Return the settings by name, as text."""
        return {
            "input size": f"{self.size[0]} x {self.size[1]}",
            "crop_pct": repr(self.crop_pct),
            "crop_mode": self.crop_mode,
            "interpolation": self.interpolation,
            "mean": ", ".join(map(repr, self.mean)),
            "std": ", ".join(map(repr, self.std)),
        }


@dataclass(frozen=True)
class Computing:
    """How a model is run: on a CPU, `threads` batches at a time, each in one thread; on a GPU one at a time.

    A single thread always adds in the same order, so the answers do not depend on the number of threads.
    """

    device: torch.device
    threads: int = 1
    amp: bool = False
    channels_last: bool = False

    @property
    def low_precision(self) -> torch.dtype:
        """The type that `amp` computes in."""
        return torch.float16 if self.device.type == "cuda" else torch.bfloat16

    @property
    def memory_format(self) -> torch.memory_format:
        """The layout of images in memory."""
        return torch.channels_last if self.channels_last else torch.contiguous_format


def resolve_pipeline(model: nn.Module, size: tuple[int, int], overrides: Overrides) -> Pipeline:
    """Return timm's settings for a model whose own images are `size` (height, width), with the user's overrides."""
    from timm.data import resolve_data_config

    height, width = overrides.size or size
    wanted = {
        "input_size": (3, height, width),
        "crop_pct": overrides.crop_pct,
        "interpolation": overrides.interpolation and str(overrides.interpolation),
        "mean": overrides.mean,
        "std": overrides.std,
    }
    config = resolve_data_config(wanted, model=model)
    return Pipeline(
        (height, width), config["crop_pct"], config["crop_mode"], config["interpolation"], config["mean"], config["std"]
    )


def load_batches(
    images: Images, indices: Sequence[int], pipeline: Pipeline, batch_size: int, workers: int, device: torch.device
) -> Iterable[tuple[Tensor, Tensor]]:
    """Return timm's loader over the chosen images in order; the last batch holds the remainder."""
    from timm.data import create_loader
    from torchvision.transforms.functional import pil_to_tensor

    loader: Iterable[tuple[Tensor, Tensor]] = create_loader(
        Guarded(images, indices, pil_to_tensor),  # timm's loader sets the transform
        input_size=(3, *pipeline.size),
        batch_size=batch_size,
        interpolation=pipeline.interpolation,
        mean=pipeline.mean,
        std=pipeline.std,
        crop_pct=pipeline.crop_pct,
        crop_mode=pipeline.crop_mode,
        num_workers=workers,
        pin_memory=device.type == "cuda",
        device=device,
        persistent_workers=False,  # they end with the last batch
    )
    return loader


def predict_batches(
    model: nn.Module, batches: Iterable[tuple[Tensor, Tensor]], computing: Computing
) -> Iterator[tuple[ModelAnswer | None, ...]]:
    """Yield the answers to each batch, in order.

    A batch is a tensor of normalised images (batch, channels, height, width) and a number for each image, negative if
    the image could not be read; such an image has no answer. Raises OutOfMemoryError, and CheckpointError if an output
    is not finite.
    """
    with deterministic(), _memory_errors():
        yield from _in_order(lambda batch: _predict(model, *batch, computing), batches, computing.threads)


def _predict(model: nn.Module, images: Tensor, numbers: Tensor, computing: Computing) -> tuple[ModelAnswer | None, ...]:
    with torch.inference_mode(), _autocast(computing):
        logits = model(images.contiguous(memory_format=computing.memory_format)).float()
    # sorted, not top-k: among equal logits the first class comes first, as in argmax, on every device
    ordered = logits.argsort(dim=1, descending=True, stable=True)[:, :GUESSES]
    first = logits.softmax(dim=1).gather(1, ordered[:, :1])[:, 0]
    finite = logits.isfinite().all(dim=1)
    readable = (numbers >= 0).tolist()
    if not all(fine or not read for fine, read in zip(finite.tolist(), readable, strict=True)):
        advice = "; try without --amp" if computing.amp else ""
        raise CheckpointError(f"with these weights the model's outputs are not finite numbers{advice}")
    rows = zip(ordered.tolist(), first.tolist(), readable, strict=True)
    return tuple(ModelAnswer(tuple(top5), probability) if read else None for top5, probability, read in rows)


def _autocast(computing: Computing) -> AbstractContextManager[object]:
    if not computing.amp:
        return nullcontext()
    return torch.autocast(computing.device.type, computing.low_precision)


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
    threads = torch.get_num_threads()
    with ExitStack() as stack:
        stack.callback(torch.set_num_threads, threads)
        torch.set_num_threads(1)
        stack.enter_context(torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True))
        yield


@contextmanager
def _memory_errors() -> Iterator[None]:
    """Raise OutOfMemoryError in place of torch's and Python's several errors for it."""
    try:
        yield
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise OutOfMemoryError from error
    except RuntimeError as error:
        if not any(words in str(error) for words in _NO_MEMORY):
            raise
        raise OutOfMemoryError from error
