"""Data sets by timm's names: torchvision's, those of the Hugging Face hub, and shards."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from PIL import Image

from imlp_audit.errors import DatasetError, did_you_mean
from imlp_audit.evaluate.data.folder import natural_key, readable_id
from imlp_audit.evaluate.data.images import FileImages, Images, PictureSource

_PREFIXES = ("torch", "hfds", "wds", "hfids", "tfds")
_EVALUATION = ("validation", "val", "valid", "eval", "evaluation")
_TRAINING = ("train", "training")


@dataclass(frozen=True)
class _Kind:
    """A class of torchvision, and its name for the split that we call validation; `tested` if that is not `test`.

    Sets with `files` have their images in files, and those are not opened to list them.
    """

    name: str
    validation: Mapping[str, object]
    training: Mapping[str, object]
    files: bool = True
    tested: bool = False


def _in_memory(name: str) -> _Kind:
    return _Kind(name, {"train": False}, {"train": True}, files=False)


def _in_files(name: str, validation: str, training: str = "train", *, tested: bool = False) -> _Kind:
    return _Kind(name, {"split": validation}, {"split": training}, tested=tested)


_KINDS = {
    "cifar10": _in_memory("CIFAR10"),
    "cifar100": _in_memory("CIFAR100"),
    "mnist": _in_memory("MNIST"),
    "kmnist": _in_memory("KMNIST"),
    "fashion_mnist": _in_memory("FashionMNIST"),
    "qmnist": _in_memory("QMNIST"),
    "flowers102": _in_files("Flowers102", "val", tested=True),
    "fgvc_aircraft": _in_files("FGVCAircraft", "val", tested=True),
    "dtd": _in_files("DTD", "val", tested=True),
    "country211": _in_files("Country211", "valid", tested=True),
    "food101": _in_files("Food101", "test"),
    "stanford_cars": _in_files("StanfordCars", "test"),
    "places365": _in_files("Places365", "val", "train-standard"),
    "inaturalist": _Kind("INaturalist", {"version": "2021_valid"}, {"version": "2021_train"}),
}
NAMES = tuple(_KINDS)
_ELSEWHERE = {
    "imagenet": "give the folder itself, which holds val/CLASS/IMAGE once torchvision has unpacked it",
    "image_folder": "give the folder itself",
    "folder": "give the folder itself",
    "oxford_iiit_pet": "give its folder `images` and --labels with lines `IMAGE CLASS`, made from annotations/test.txt",
}


class _TorchVision(Protocol):
    """The part of a torchvision data set that we use."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> tuple[Any, Any]: ...


@dataclass(frozen=True)
class TorchvisionImages:
    """A torchvision data set that holds its images in memory."""

    held: _TorchVision
    classes: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.classes)

    def __getitem__(self, index: int) -> tuple[Image.Image, int]:
        return self.held[index][0].convert("RGB"), self.classes[index]


def is_named(source: str) -> bool:
    """Return whether a source is one of timm's names; a path that exists never is, whatever it is called."""
    prefix, slash, _ = source.partition("/")
    return bool(slash) and prefix.lower() in _PREFIXES and not Path(source).exists()


def open_torchvision(rest: str, split: str, *, allow_download: bool) -> Images:
    """Open torchvision's data set NAME:DIR. Raises DatasetError."""
    short, _, folder = rest.partition(":")
    name = f"torch/{short}"
    kind = _KINDS.get(short)
    if kind is None:
        nearest = _ELSEWHERE.get(short) or f"{did_you_mean(short, _KINDS)}; for other data give a folder of images"
        raise DatasetError(f"there is no data set {name}; {nearest}")
    if not folder:
        raise DatasetError(f"{name}: name the folder that holds it or that it should go to, {name}:DIR")
    if not allow_download and not Path(folder).is_dir():  # torchvision would make it
        raise DatasetError(f"{name}: {folder} is not a folder; pass --allow-download to fetch the data set")
    options = kind.validation if split in _EVALUATION else kind.training if split in _TRAINING else None
    held = _create(kind, name, folder, options or _other_split(kind, split), allow_download=allow_download)
    notes: tuple[str, ...] = ()
    if kind.tested and split in _EVALUATION:
        notes = (f"these are the images of {name}'s validation split; most papers report --split test",)
    return _collect(kind, name, Path(folder), held, notes)


def _other_split(kind: _Kind, split: str) -> Mapping[str, object]:
    """Return torchvision's option for a split that is neither for training nor for validation. Raises DatasetError."""
    (option,) = kind.validation
    if option != "train":
        return {option: split}
    if split != "test":  # to torchvision any text is true, so it would be the training set
        raise DatasetError(f"torchvision's {kind.name} has no split {split!r}; pass --split test or --split train")
    return kind.validation


def _collect(kind: _Kind, name: str, root: Path, held: _TorchVision, notes: tuple[str, ...]) -> Images:
    listed = _in_order(held) if kind.files else []
    targets = [target for _, target in listed] if kind.files else vars(held)["targets"]
    classes = _check_classes(name, [_first(target) for target in targets])
    names: Sequence[object] = getattr(held, "classes", None) or getattr(held, "all_categories", None) or ()
    ids = tuple(map(str, range(len(classes))))
    dataset: PictureSource = TorchvisionImages(held, classes)
    if kind.files:
        paths = tuple(Path(path) for path, _ in listed)
        ids = tuple(readable_id(str(path.relative_to(root))) for path in paths)
        dataset = FileImages(Path(), tuple(map(str, paths)), classes)
    labels = tuple((label,) for label in classes)
    return Images(name, dataset, ids, labels, len(names) or None, notes, "torchvision's order")


def _in_order(held: _TorchVision) -> list[tuple[str, int]]:
    """Return paths and classes by path; torchvision leaves some in the order of the disk."""
    return sorted((held[index] for index in range(len(held))), key=lambda pair: natural_key(str(pair[0])))


def _create(kind: _Kind, name: str, root: str, options: Mapping[str, object], *, allow_download: bool) -> _TorchVision:
    """Open a data set of torchvision; whatever it prints goes to stderr."""
    from torchvision import datasets

    loader: dict[str, Callable[[object], object]] = {"loader": lambda path: path} if kind.files else {}
    try:
        with redirect_stdout(sys.stderr):
            made: _TorchVision = getattr(datasets, kind.name)(root, download=allow_download, **options, **loader)
    except Exception as error:  # torchvision has errors of its own
        hint = "" if allow_download else "; pass --allow-download to fetch it, checked against torchvision's hash"
        absent = "not found" in str(error) and "download=True" in str(error)
        what = f"torchvision finds no whole copy, by its hashes, below {root}" if absent else str(error)[:300]
        raise DatasetError(f"{name}: {what}{hint}") from error
    return made


def _first(target: Any) -> int:  # noqa: ANN401  # a number, a tensor of one, or QMNIST's of eight, the class first
    return int(target if isinstance(target, int) or not target.ndim else target[0])


def _check_classes(name: str, classes: Sequence[int]) -> tuple[int, ...]:
    wrong = sum(one < 0 for one in classes)
    if wrong or not classes:
        raise DatasetError(f"{name}: {wrong} of {len(classes)} images have no class; try another --split")
    return tuple(classes)
