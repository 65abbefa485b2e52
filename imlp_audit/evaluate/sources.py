"""Which files belong to a split, and data sets of torchvision by name."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from PIL import Image

from imlp_audit.errors import DatasetError, did_you_mean
from imlp_audit.evaluate.images import Images
from imlp_audit.numbers.words import list_some

SPLIT_SYNONYMS = (("validation", "val", "valid", "eval", "evaluation"), ("train", "training"))
_NUMBERED = re.compile(r"(?P<name>.*)-[0-9]+-of-(?P<of>[0-9]{1,9})(-[0-9a-f]+)?\.\w+")
_SPLITS = {word: words[0] for words in (*SPLIT_SYNONYMS, ("test", "testing")) for word in words}


def whole_split(files: Sequence[str], split: str, source: str) -> tuple[str, ...]:
    """Return the files of a split. Raises DatasetError if they lie in several folders, or if one is missing.

    Several folders are several forms of a data set on the hub, often of the same images.
    """
    chosen = choose_files(files, split, source)
    folders = sorted({PurePosixPath(file).parent.as_posix() for file in chosen})
    if len(folders) > 1:
        raise DatasetError(
            f"{source} has files in {list_some(folders)}, which may hold the same images; give one of them"
        )
    numbered = [match for file in chosen if (match := _NUMBERED.fullmatch(PurePosixPath(file).name))]
    for name, of in sorted({(match["name"], match["of"]) for match in numbered}):
        here = sum((match["name"], match["of"]) == (name, of) for match in numbered)
        if here < int(of):
            raise DatasetError(
                f"{source} has {here} of the {int(of)} files {name}-NNNNN-of-{of}, so images are missing; download the "
                "others, or give one file to evaluate a part"
            )
    return chosen


def choose_files(files: Sequence[str], split: str, source: str) -> tuple[str, ...]:
    """Return the files, given relative to `source`, whose names name a split; all if none names any.

    Raises DatasetError if the files name other splits only, or none where another than the usual one is asked for.
    """
    splits = {file: _splits_of(file) for file in files}
    if not any(splits.values()):
        _refuse_unnamed(split, source)
        return tuple(files)
    wanted = _SPLITS.get(split, split)
    chosen = tuple(file for file, named in splits.items() if wanted in named)
    if not chosen:
        there = sorted(set().union(*splits.values()))
        raise DatasetError(f"{source} has no files of the split {split!r}; pass --split with {list_some(there)}")
    return chosen


def check_undivided(root: Path, folders: Collection[str], split: str) -> None:
    """Raise DatasetError for a folder without a folder of the split if it looks as if it should have one."""
    if folders and all(name.lower() in _SPLITS for name in folders):
        raise DatasetError(
            f"{root} holds {list_some(sorted(folders))}, which are splits, not classes; pass --split with one of them"
        )
    if _SPLITS.get(split, split) not in _splits_of(root.resolve().name):
        _refuse_unnamed(split, str(root))


def _refuse_unnamed(split: str, source: str) -> None:
    if split not in ("", *SPLIT_SYNONYMS[0]):
        raise DatasetError(
            f"{source}: nothing here is named after the split {split!r}; leave out --split if these are its images"
        )


def _splits_of(file: str) -> set[str]:
    """Return the splits that a file's name has; if it has none, those that its folders have."""
    folders, _, name = file.lower().rpartition("/")
    named = ({_SPLITS[word] for word in re.findall("[a-z]+", text) if word in _SPLITS} for text in (name, folders))
    return next(filter(None, named), set())


NAMED = ("cifar10", "cifar100", "mnist", "kmnist", "fashion_mnist")
"""Data sets of torchvision that timm opens by name, and that are held in memory."""


class _TorchVision(Protocol):
    """The part of a torchvision data set that we use."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> tuple[Any, Any]: ...


@dataclass(frozen=True)
class TorchvisionImages:
    """A torchvision data set that holds its images in memory."""

    held: _TorchVision

    def __getitem__(self, index: int) -> Image.Image:
        image: Image.Image = self.held[index][0].convert("RGB")
        return image

    def read(self, index: int) -> bytes:
        """Return an image's numbers."""
        return self[index].tobytes()


def is_named(source: str) -> bool:
    """Return whether a source is a name of timm's for a data set of torchvision; a path that exists never is."""
    return source.startswith("torch/") and not Path(source).exists()


def open_torchvision(source: str, split: str, *, allow_download: bool) -> Images:
    """Open torchvision's data set torch/NAME:DIR. Raises DatasetError."""
    name, _, folder = source.partition(":")
    short = name.removeprefix("torch/")
    if short not in NAMED:
        raise DatasetError(
            f"there is no data set {name}; {did_you_mean(short, NAMED)}; for other data give a folder of images"
        )
    if not folder:
        raise DatasetError(f"{name}: name the folder that holds it or that it should go to, {name}:DIR")
    if not allow_download and not Path(folder).is_dir():  # torchvision would make it
        raise DatasetError(f"{name}: {folder} is not a folder; pass --allow-download to fetch the data set")
    if split not in (*SPLIT_SYNONYMS[0], *SPLIT_SYNONYMS[1], "test"):
        raise DatasetError(f"{name} has no split {split!r}; pass --split test or --split train")
    held = _create(name, folder, split, allow_download=allow_download)
    labels = tuple((int(target),) for target in vars(held)["targets"])
    names: Sequence[object] = getattr(held, "classes", None) or ()
    ids = tuple(map(str, range(len(labels))))
    return Images(name, TorchvisionImages(held), ids, labels, len(names) or None, (), "torchvision's order")


def _create(name: str, root: str, split: str, *, allow_download: bool) -> _TorchVision:
    """Open a data set of torchvision; whatever it prints goes to stderr."""
    from timm.data import create_dataset

    try:
        with redirect_stdout(sys.stderr):
            made: _TorchVision = create_dataset(name, root, split, search_split=False, download=allow_download)
    except Exception as error:  # torchvision has errors of its own
        hint = "" if allow_download else "; pass --allow-download to fetch it, checked against torchvision's hash"
        absent = "not found" in str(error) and "download=True" in str(error)
        what = f"torchvision finds no whole copy, by its hashes, below {root}" if absent else str(error)[:300]
        raise DatasetError(f"{name}: {what}{hint}") from error
    return made
