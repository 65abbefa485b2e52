"""From images to answers, batch by batch."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor, nn

from imlp_audit.errors import CheckpointError
from imlp_audit.evaluate.predictions import Answer
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

Item = TypeVar("Item")
Result = TypeVar("Result")
_GUESSES = 5
_NO_MEMORY = ("can't allocate memory", "not enough memory", "out of memory")


class OutOfMemoryError(Exception):
    """A batch does not fit into memory."""


@dataclass(frozen=True)
class Computing:
    """How a model is computed. `threads` batches at once, each by a thread of its own, on a CPU; one on a GPU.

    A thread alone adds numbers up in one order, so the answers don't depend on how many there are.
    """

    device: torch.device
    threads: int = 1
    amp: bool = False
    channels_last: bool = False

    @property
    def low_precision(self) -> torch.dtype:
        """What `amp` computes in."""
        return torch.float16 if self.device.type == "cuda" else torch.bfloat16

    @property
    def memory_format(self) -> torch.memory_format:
        """How images lie in memory."""
        return torch.channels_last if self.channels_last else torch.contiguous_format


def answers(
    model: nn.Module, batches: Iterable[tuple[Tensor, Tensor]], computing: Computing
) -> Iterator[tuple[Answer | None, ...]]:
    """Yield the answers to each batch, in order.

    A batch is images (batch, channels, height, width), normalised, and a number for each, below 0 for one that could
    not be read and has no answer. Raises OutOfMemoryError, and CheckpointError where a model gives no finite numbers.
    """
    with _deterministic(), _memory_watched():
        yield from _in_order(lambda batch: _answered(model, *batch, computing), batches, computing.threads)


def _answered(model: nn.Module, images: Tensor, numbers: Tensor, computing: Computing) -> tuple[Answer | None, ...]:
    with torch.inference_mode(), _autocast(computing):
        logits = model(images.contiguous(memory_format=computing.memory_format)).float()
    # sorted, not top-k: of equal logits the first class comes first, as in argmax, on every device
    ordered = logits.argsort(dim=1, descending=True, stable=True)[:, :_GUESSES]
    first = logits.softmax(dim=1).gather(1, ordered[:, :1])[:, 0]
    finite = logits.isfinite().all(dim=1)
    readable = (numbers >= 0).tolist()
    if not all(fine or not read for fine, read in zip(finite.tolist(), readable, strict=True)):
        advice = "; try without --amp" if computing.amp else ""
        raise CheckpointError(f"with these weights the model's outputs are not finite numbers{advice}")
    found = zip(ordered.tolist(), first.tolist(), readable, strict=True)
    return tuple(Answer(tuple(top5), probability) if read else None for top5, probability, read in found)


def _autocast(computing: Computing) -> AbstractContextManager[object]:
    if not computing.amp:
        return nullcontext()
    return torch.autocast(computing.device.type, computing.low_precision)


def _in_order(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """Yield the results of some work on each item, several at a time; a few items wait, so that no thread does."""
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
        pool.shutdown(cancel_futures=True)  # what comes next needs the memory that the others still have
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # an interrupt need not wait for their batches


@contextmanager
def _deterministic() -> Iterator[None]:
    """Have a batch give the same numbers each time, on the same machine: one thread adds up, one cuDNN algorithm."""
    threads = torch.get_num_threads()
    with ExitStack() as stack:
        stack.callback(torch.set_num_threads, threads)
        torch.set_num_threads(1)
        stack.enter_context(torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True))
        yield


@contextmanager
def _memory_watched() -> Iterator[None]:
    """Raise OutOfMemoryError for all the errors that torch and Python have for it."""
    try:
        yield
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise OutOfMemoryError from error
    except RuntimeError as error:
        if not any(words in str(error) for words in _NO_MEMORY):
            raise
        raise OutOfMemoryError from error


if TYPE_CHECKING:
    from torch import Tensor, device, nn

    from imlp_audit.evaluate.data.open import Images


@dataclass(frozen=True)
class Pipeline:
    """timm's settings for evaluating: a crop of `crop_pct` of the resized image is (height, width) = `size` large."""

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


def pipeline(model: nn.Module, size: tuple[int, int], overrides: Overrides) -> Pipeline:
    """Return the settings that timm resolves for a model whose own images have a height and width."""
    from timm.data import resolve_data_config

    height, width = overrides.size or size
    given = {
        "input_size": (3, height, width),
        "crop_pct": overrides.crop_pct,
        "interpolation": overrides.interpolation and str(overrides.interpolation),
        "mean": overrides.mean,
        "std": overrides.std,
    }
    found = resolve_data_config(given, model=model)
    return Pipeline(
        (height, width), found["crop_pct"], found["crop_mode"], found["interpolation"], found["mean"], found["std"]
    )


def batches(
    images: Images, indices: Sequence[int], chosen: Pipeline, batch_size: int, workers: int, device: device
) -> Iterable[tuple[Tensor, Tensor]]:
    """Return timm's loader over the chosen images in their order, the last batch as long as what is left."""
    from timm.data import create_loader
    from torchvision.transforms.functional import pil_to_tensor

    from imlp_audit.evaluate.data.images import Guarded

    loader: Iterable[tuple[Tensor, Tensor]] = create_loader(
        Guarded(images, indices, pil_to_tensor),  # timm's loader sets the transform
        input_size=(3, *chosen.size),
        batch_size=batch_size,
        interpolation=chosen.interpolation,
        mean=chosen.mean,
        std=chosen.std,
        crop_pct=chosen.crop_pct,
        crop_mode=chosen.crop_mode,
        num_workers=workers,
        pin_memory=device.type == "cuda",
        device=device,
        persistent_workers=False,  # they end with the last batch
    )
    return loader
