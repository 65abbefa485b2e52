"""A model's answers: from images to answers, the file of all of them, and the journal of an interrupted run."""

from __future__ import annotations

import csv
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from io import RawIOBase, StringIO
from os.path import lexists
from pathlib import Path
from typing import TypeAlias, TypeVar

import torch
from torch import Tensor, nn

from imlp_audit.errors import BuildError, CheckpointError, OutputError, UsageError
from imlp_audit.evaluate.images import Guarded, Images
from imlp_audit.files import FileError, read_bytes
from imlp_audit.models.torch_modes import with_threads
from imlp_audit.processes.limits import is_of_memory
from imlp_audit.report.atomic_files import write_whole
from imlp_audit.report.document import make_visible
from imlp_audit.spec.schema import Preprocessing

Item = TypeVar("Item")
Result = TypeVar("Result")

GUESSES = 5
"""How many classes an answer names, if the model has as many."""
_FORMAT = "imlp-audit/answers/4"
_LARGEST = 2**29  # bytes of a journal: ImageNet's training images take 90 million


@dataclass(frozen=True)
class ModelAnswer:
    """The likeliest classes, at most five, best first, and the probability of the first."""

    top5: tuple[int, ...]
    probability: float


@dataclass(frozen=True)
class Prediction:
    """One image, its accepted classes, and the model's answer; an unreadable image has none."""

    image: str
    labels: tuple[int, ...]
    answer: ModelAnswer | None

    def right(self, guesses: int) -> bool:
        """Return whether an accepted class is among the first `guesses` guesses."""
        return self.answer is not None and not set(self.labels).isdisjoint(self.answer.top5[:guesses])


def check_ending(path: Path) -> None:
    """Raise UsageError for a file of predictions with an unknown ending."""
    if path.suffix != ".csv":
        raise UsageError(f"--predictions {path}: end the file name in .csv")


def write_predictions(path: Path, predictions: Sequence[Prediction]) -> None:
    """Write predictions whole, as CSV; equal predictions give equal bytes.

    The columns are image, labels, top5, probability (of the first guess) and readable. Raises OutputError.
    """
    check_ending(path)
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("image", "labels", "top5", "probability", "readable"))
    for one in predictions:
        top5, probability = (one.answer.top5, repr(one.answer.probability)) if one.answer else ((), "")
        writer.writerow((one.image, _join(one.labels), _join(top5), probability, str(one.answer is not None).lower()))
    write_whole(path, text.getvalue().encode("utf-8"), links=True)


def _join(classes: Iterable[int]) -> str:
    return " ".join(map(str, classes))


BatchAnswers: TypeAlias = Sequence[ModelAnswer | None]


@dataclass
class Journal:
    """The finished batches of a run, in order, in a file that grows by a line of JSON a batch; in none without one."""

    finished: list[BatchAnswers] = field(default_factory=list)
    path: Path | None = None
    file: RawIOBase | None = None

    def add(self, answers: BatchAnswers) -> None:
        """Append the next finished batch. Raises OutputError."""
        self.append({"answers": [None if one is None else [one.probability, *one.top5] for one in answers]})
        self.finished.append(answers)

    def remove(self) -> None:
        """Remove the file, once nobody needs to continue from it."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def append(self, content: object) -> None:
        """Append a line in one write."""
        if self.file is None:
            return
        line = _to_line(content)
        try:
            if self.file.write(line) != len(line):
                raise OSError("the disk is full")
        except OSError as error:
            raise OutputError(f"{self.path} could not be written: {error.strerror or error}") from error


def _to_line(content: object) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode() + b"\n"


@contextmanager
def open_journal(path: Path, fingerprint: Mapping[str, str]) -> Iterator[Journal]:
    """Open the journal of a run, or begin one. The last line is dropped if it is torn, as a killed run leaves it.

    `fingerprint` names everything that the answers depend on. Other runs are kept from the file. Raises UsageError if
    another run has it, and for a file of another run or a damaged one, which is left as it is; OutputError if the file
    cannot be written.
    """
    if lexists(path):
        _read_file(path)  # refuses a link, a pipe and the like, which would be opened otherwise
    try:
        file = path.open("ab", buffering=0)
    except OSError as error:
        raise OutputError(f"{path} could not be created or read: {error.strerror or error}") from error
    with file:
        _claim(file, path)
        data = _read_file(path)
        whole = data[: data.rfind(b"\n") + 1]
        header = {"format": _FORMAT, "evaluation": dict(fingerprint)}
        journal = Journal(_parse(path, whole, fingerprint), path, file)
        if not whole and not _to_line(header).startswith(data):
            raise UsageError(f"{path} was not written by imlp-audit; move it elsewhere")
        if len(whole) < len(data):
            file.truncate(len(whole))
        if not whole:
            journal.append(header)
        yield journal


def _claim(file: RawIOBase, path: Path) -> None:
    """Keep other runs from a file for as long as this process has it, where the system knows such claims."""
    try:
        import fcntl

        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError(f"another run is writing to {path}; wait for it to end, or name other --predictions") from None
    except (ImportError, OSError):
        return


def _read_file(path: Path) -> bytes:
    try:
        return read_bytes(path, _LARGEST, links=False)
    except FileError as error:
        raise UsageError(f"{error}; remove it") from error


def _parse(path: Path, data: bytes, fingerprint: Mapping[str, str]) -> list[BatchAnswers]:
    finished: list[BatchAnswers] = []
    for number, line in enumerate(data.splitlines(), 1):
        try:
            content = json.loads(line)
            if number > 1:
                finished.append(tuple(one and ModelAnswer(tuple(one[1:]), one[0]) for one in content["answers"]))
            elif content["format"] != _FORMAT:
                raise ValueError
            else:
                _check_same(path, content["evaluation"], fingerprint)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise UsageError(
                f"{path}: line {number} is damaged, or another version of imlp-audit wrote it; remove the file to "
                "begin again"
            ) from error
    return finished


def _check_same(path: Path, there: Mapping[str, str], here: Mapping[str, str]) -> None:
    changed = [
        f"{name} was {there.get(name, 'not given')}, is {here.get(name, 'not given')}"
        for name in sorted({*there, *here})
        if there.get(name) != here.get(name)
    ]
    if changed:
        raise UsageError(
            f"{path} holds another evaluation: {make_visible('; '.join(changed))}. Repeat the command that started it, "
            "or remove the file"
        )


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
