"""The images of a data set: handed to a loader one by one, a sample that stands for all, and a digest of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Protocol, TypeAlias

from PIL import Image
from torch import Tensor
from torch.utils.data import Dataset

from imlp_audit.evaluate.data.decode import UnreadableError, open_image
from imlp_audit.evaluate.data.ends import FileSpan

Transform: TypeAlias = Callable[[Image.Image], Tensor]


class PictureSource(Protocol):
    """A map-style data set: item i is an RGB image with its class, -1 for none; raises UnreadableError."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> tuple[Image.Image, int]: ...


@dataclass(frozen=True)
class Images:
    """Images in a fixed order.

    `name` is the data set's slug if it is known, and its folder's name otherwise. `ids` are unique. `labels` are the
    accepted classes of each image; an image without any is not judged. `classes` is the number of classes, None if it
    is not known. `notes` are shown to the user before the first batch, and `order` says what decides which class has
    which number.
    """

    name: str
    dataset: PictureSource
    ids: tuple[str, ...]
    labels: tuple[tuple[int, ...], ...]
    classes: int | None
    notes: tuple[str, ...] = ()
    order: str = ""


@dataclass(frozen=True)
class FileImages:
    """Image files below a folder, each with its class."""

    root: Path
    files: tuple[str, ...]
    classes: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> tuple[Image.Image, int]:
        return open_image(self.root / self.files[index]), self.classes[index]

    def span(self, index: int) -> FileSpan:
        """Return where the bytes of an image lie."""
        return FileSpan(str(self.root / self.files[index]))


class Guarded(Dataset[tuple[Tensor, int]]):
    """The chosen images, transformed: item i is `(tensor, i)`, or `(zeros, -1 - i)` if the image cannot be read.

    `indices` refer to `images.ids`. `transform` must return tensors of one shape; it may be set later.
    """

    def __init__(self, images: Images, indices: Sequence[int], transform: Transform) -> None:
        self.images = images
        self.indices = tuple(indices)
        self.transform = transform

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, position: int) -> tuple[Tensor, int]:
        try:
            image, _ = self.images.dataset[self.indices[position]]
        except UnreadableError:
            return self.transform(Image.new("RGB", (256, 256))) * 0, -1 - position
        return self.transform(image), position


def why_unreadable(images: Images, index: int) -> str:
    """Return `name: reason` for the image with this index in `images.ids`, by opening it again."""
    try:
        images.dataset[index]
    except UnreadableError as error:
        return f"{images.ids[index]}: {error}"
    return f"{images.ids[index]}: it could not be read at first, but can be read now"


def choose_stratified(labels: Sequence[tuple[int, ...]], limit: int, ids: Sequence[str]) -> tuple[int, ...]:
    """Return the indices, ascending, of `limit` images: each class's share, rounded down or up.

    The images are arranged class by class, and every (n / limit)-th is chosen. Classes, and images within a class, are
    ordered by a hash, so file order does not matter and every machine chooses the same. Images without a label are
    never chosen; a limit above the number of labelled images returns all of those.
    """
    judged = [index for index, accepted in enumerate(labels) if accepted]
    if limit >= len(judged):
        return tuple(judged)
    judged.sort(key=lambda index: (_order(str(min(labels[index]))), _order(ids[index]), index))
    middles = ((2 * turn + 1) * len(judged) // (2 * limit) for turn in range(limit))  # of equal parts
    return tuple(sorted(judged[place] for place in middles))


def _order(text: str) -> bytes:
    return sha256(text.encode("utf-8")).digest()


def data_digest(images: Sequence[tuple[str, tuple[int, ...]]]) -> str:
    """Return the SHA-256 of images, given as ids and accepted classes in order."""
    digest = hashlib.sha256()
    for name, labels in images:
        digest.update(json.dumps([name, *labels]).encode() + b"\n")
    return digest.hexdigest()
