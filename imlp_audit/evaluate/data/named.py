"""Data sets that timm knows by a name: torchvision's small ones, those of the Hugging Face hub, and shards."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from PIL import Image

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.data.decode import MAX_BYTES, opened_from
from imlp_audit.evaluate.data.hub import pinned_snapshot
from imlp_audit.evaluate.data.images import Images, Pictures
from imlp_audit.evaluate.data.tars import open_shards
from imlp_audit.near import did_you_mean

_PREFIXES = ("torch", "hfds", "wds", "hfids", "tfds")
_IN_MEMORY = ("cifar10", "cifar100", "mnist", "kmnist", "fashion_mnist", "qmnist")


class _TorchVision(Protocol):
    """What we use of a data set of torchvision's."""

    targets: Sequence[int]
    classes: Sequence[str]

    def __getitem__(self, index: int) -> tuple[Image.Image, int]: ...


class _Reader(Protocol):
    """What we use of timm's reader of a data set of the hub."""

    dataset: Mapping[str, Sequence[object]]
    label_key: str
    class_to_idx: Mapping[str, int]

    def __getitem__(self, index: int) -> tuple[BinaryIO, object]: ...


@dataclass(frozen=True)
class Arrays:
    """A data set of torchvision's that holds its images in memory."""

    held: _TorchVision
    classes: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.classes)

    def __getitem__(self, index: int) -> tuple[Image.Image, int]:
        return self.held[index][0].convert("RGB"), self.classes[index]


@dataclass(frozen=True)
class Encoded:
    """Images as timm's reader hands out their files.

    timm's data set around it is passed over: for an image that cannot be read, it gives the next one.
    """

    reader: _Reader
    classes: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.classes)

    def __getitem__(self, index: int) -> tuple[Image.Image, int]:
        return opened_from(lambda: self._read(index)), self.classes[index]

    def _read(self, index: int) -> bytes:
        with self.reader[index][0] as file:
            return file.read(MAX_BYTES + 1)


def is_named(source: str) -> bool:
    """Say whether a source is a name of timm's; a folder that is there is itself, whatever it is called."""
    prefix, slash, _ = source.partition("/")
    return bool(slash) and prefix.lower() in _PREFIXES and not Path(source).exists()


def open_named(source: str, split: str, *, allow_download: bool) -> Images:
    """Open a data set by timm's name for it. Raises DatasetError."""
    prefix, _, rest = source.partition("/")
    match prefix.lower():
        case "torch":
            return _of_torchvision(rest, split, allow_download=allow_download)
        case "hfds":
            return _of_the_hub(rest, split, allow_download=allow_download)
        case "wds":
            return open_shards(rest, split)
    raise DatasetError(
        f"{source}: {prefix}/ streams images in no order of its own, so a run could be neither shared out nor resumed; "
        "give hfds/OWNER/NAME@COMMIT, wds/ with .tar files, or a folder of images"
    )


def _of_torchvision(rest: str, split: str, *, allow_download: bool) -> Images:
    short, _, folder = rest.partition(":")
    name = f"torch/{short}"
    if short not in _IN_MEMORY:
        raise DatasetError(
            f"no data set is called {name}; {did_you_mean(short, _IN_MEMORY)}; else give a folder of images"
        )
    if not folder:
        raise DatasetError(f"{name}: say where it lies, or is to lie: {name}:DIR")
    held: _TorchVision = _created(name, folder, split, allow_download=allow_download)
    classes = _checked(name, [_first(target) for target in held.targets])
    return _indexed(name, Arrays(held, classes), classes, len(held.classes))


def _of_the_hub(rest: str, split: str, *, allow_download: bool) -> Images:
    name, _, revision = rest.partition("@")
    folder = pinned_snapshot(name, revision, allow_download=allow_download)
    reader: _Reader = _created(f"hfds/{folder}", None, split, allow_download=False).reader
    classes = _checked(f"hfds/{name}", list(reader.dataset[reader.label_key]))
    return _indexed(f"hfds/{name}", Encoded(reader, classes), classes, len(reader.class_to_idx) or None)


def _created(name: str, root: str | None, split: str, *, allow_download: bool) -> Any:  # noqa: ANN401  # timm's
    """Have timm open a data set; what it prints goes to stderr."""
    from timm.data import create_dataset

    try:
        with redirect_stdout(sys.stderr):
            return create_dataset(name, root=root, split=split, download=allow_download)
    except ImportError as error:
        raise DatasetError(f"{name}: {error}; pip install datasets") from error
    except Exception as error:  # of torchvision, or of datasets: each has errors of its own
        hint = "" if allow_download else "; --allow-download fetches it, and holds it against torchvision's hash"
        raise DatasetError(f"{name}: {str(error)[:300]}{hint if name.startswith('torch/') else ''}") from error


def _first(target: Any) -> int:  # noqa: ANN401  # a number, a tensor of one, or QMNIST's of eight, the class first
    return int(target if isinstance(target, int) or not target.ndim else target[0])


def _checked(name: str, classes: Sequence[object]) -> tuple[int, ...]:
    whole = [one for one in classes if isinstance(one, int) and one >= 0]
    if not classes or len(whole) < len(classes):
        raise DatasetError(f"{name}: {len(classes) - len(whole)} of {len(classes)} images have no class; try --split")
    return tuple(whole)


def _indexed(name: str, dataset: Pictures, classes: tuple[int, ...], count: int | None) -> Images:
    ids = tuple(map(str, range(len(classes))))
    return Images(name, dataset, ids, tuple((label,) for label in classes), count)
