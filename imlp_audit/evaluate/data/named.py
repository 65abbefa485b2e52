"""Data sets with a name in timm: torchvision's small ones, those of the Hugging Face hub, and shards."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from PIL import Image

from imlp_audit.errors import DatasetError, did_you_mean
from imlp_audit.evaluate.data.decode import MAX_BYTES, open_image_from
from imlp_audit.evaluate.data.hub import pinned_snapshot
from imlp_audit.evaluate.data.images import Images, PictureSource
from imlp_audit.evaluate.data.tars import open_shards

_PREFIXES = ("torch", "hfds", "wds", "hfids", "tfds")
_IN_MEMORY = ("cifar10", "cifar100", "mnist", "kmnist", "fashion_mnist", "qmnist")


class _TorchVision(Protocol):
    """The part of a torchvision data set that we use."""

    targets: Sequence[int]
    classes: Sequence[str]

    def __getitem__(self, index: int) -> tuple[Image.Image, int]: ...


class _Reader(Protocol):
    """The part of timm's reader of a hub data set that we use."""

    dataset: Mapping[str, Sequence[object]]
    label_key: str
    class_to_idx: Mapping[str, int]

    def __getitem__(self, index: int) -> tuple[BinaryIO, object]: ...


@dataclass(frozen=True)
class TorchvisionImages:
    """A torchvision data set that holds its images in memory."""

    held: _TorchVision
    classes: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.classes)

    def __getitem__(self, index: int) -> tuple[Image.Image, int]:
        return self.held[index][0].convert("RGB"), self.classes[index]


@dataclass(frozen=True)
class HubImages:
    """Images from the files that timm's reader hands out.

    timm's data set around the reader is not used: in place of an unreadable image it returns the next one.
    """

    reader: _Reader
    classes: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.classes)

    def __getitem__(self, index: int) -> tuple[Image.Image, int]:
        return open_image_from(lambda: self._read(index)), self.classes[index]

    def _read(self, index: int) -> bytes:
        with self.reader[index][0] as file:
            return file.read(MAX_BYTES + 1)


def is_named(source: str) -> bool:
    """Return whether a source is one of timm's names; a path that exists never is, whatever it is called."""
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
        f"{source}: {prefix}/ streams images in no fixed order, so a run could be neither shared nor resumed; "
        "give hfds/OWNER/NAME@COMMIT, wds/ with .tar files, or a folder of images"
    )


def _of_torchvision(rest: str, split: str, *, allow_download: bool) -> Images:
    short, _, folder = rest.partition(":")
    name = f"torch/{short}"
    if short not in _IN_MEMORY:
        raise DatasetError(
            f"there is no data set {name}; {did_you_mean(short, _IN_MEMORY)}; for other data give a folder of images"
        )
    if not folder:
        raise DatasetError(f"{name}: name the folder that holds it or that it should go to, {name}:DIR")
    held: _TorchVision = _create(name, folder, split, allow_download=allow_download)
    classes = _check_classes(name, [_first(target) for target in held.targets])
    return _number_images(name, TorchvisionImages(held, classes), classes, len(held.classes))


def _of_the_hub(rest: str, split: str, *, allow_download: bool) -> Images:
    name, _, revision = rest.partition("@")
    folder = pinned_snapshot(name, revision, allow_download=allow_download)
    reader: _Reader = _create(f"hfds/{folder}", None, split, allow_download=False).reader
    classes = _check_classes(f"hfds/{name}", list(reader.dataset[reader.label_key]))
    return _number_images(f"hfds/{name}", HubImages(reader, classes), classes, len(reader.class_to_idx) or None)


def _create(name: str, root: str | None, split: str, *, allow_download: bool) -> Any:  # noqa: ANN401  # timm's
    """Open a data set through timm; whatever it prints goes to stderr."""
    from timm.data import create_dataset

    try:
        with redirect_stdout(sys.stderr):
            return create_dataset(name, root=root, split=split, download=allow_download)
    except ImportError as error:
        raise DatasetError(f"{name}: {error}; run `pip install datasets`") from error
    except Exception as error:  # torchvision and datasets each have errors of their own
        hint = "" if allow_download else "; pass --allow-download to fetch it, checked against torchvision's hash"
        raise DatasetError(f"{name}: {str(error)[:300]}{hint if name.startswith('torch/') else ''}") from error


def _first(target: Any) -> int:  # noqa: ANN401  # a number, a tensor of one, or QMNIST's of eight, the class first
    return int(target if isinstance(target, int) or not target.ndim else target[0])


def _check_classes(name: str, classes: Sequence[object]) -> tuple[int, ...]:
    whole = [one for one in classes if isinstance(one, int) and one >= 0]
    if not classes or len(whole) < len(classes):
        raise DatasetError(
            f"{name}: {len(classes) - len(whole)} of {len(classes)} images have no class; try another --split"
        )
    return tuple(whole)


def _number_images(name: str, dataset: PictureSource, classes: tuple[int, ...], count: int | None) -> Images:
    ids = tuple(map(str, range(len(classes))))
    return Images(name, dataset, ids, tuple((label,) for label in classes), count)
