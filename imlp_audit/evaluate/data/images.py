"""The images of a data set, and handing them to a loader one by one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol, TypeAlias

from PIL import Image
from torch import Tensor
from torch.utils.data import Dataset

from imlp_audit.evaluate.data.decode import UnreadableError

Transform: TypeAlias = Callable[[Image.Image], Tensor]


class Pictures(Protocol):
    """A map-style data set: item i is an image in RGB with its class, -1 for none; raises UnreadableError."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> tuple[Image.Image, int]: ...


@dataclass(frozen=True)
class Images:
    """Images in a fixed order.

    `name` is the data set's slug where it is known, its folder's name otherwise. `ids` are unique. `labels` are the
    classes accepted of each image, none where it is not judged. `classes` is how many classes the labels are of, None
    where nothing says so. `notes` are for the user, before the first batch.
    """

    name: str
    dataset: Pictures
    ids: tuple[str, ...]
    labels: tuple[tuple[int, ...], ...]
    classes: int | None
    notes: tuple[str, ...] = ()


class Guarded(Dataset[tuple[Tensor, int]]):
    """The chosen images, transformed: item i is `(tensor, i)`, and `(zeros, -1 - i)` where it cannot be read.

    `indices` are of `images.ids`. `transform` must give tensors of one shape, and may be set later.
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
    """Return `name: reason` of the image with this index in `images.ids`, by opening it once more."""
    try:
        images.dataset[index]
    except UnreadableError as error:
        return f"{images.ids[index]}: {error}"
    return f"{images.ids[index]}: it could not be read at first, and now it can"


def stratified(labels: Sequence[tuple[int, ...]], limit: int, ids: Sequence[str]) -> tuple[int, ...]:
    """Return the indices, ascending, of `limit` images: of each class its share, rounded down or up.

    The images stand class by class, and every (n / limit)-th is taken. Classes, and images within a class, are ordered
    by a hash: of the order in which somebody named the files nothing is left, and any machine chooses the same.
    Images without a label are never chosen; a limit above the number of the others gives them all.
    """
    judged = [index for index, accepted in enumerate(labels) if accepted]
    if limit >= len(judged):
        return tuple(judged)
    judged.sort(key=lambda index: (_digest(str(min(labels[index]))), _digest(ids[index]), index))
    taken = ((2 * turn + 1) * len(judged) // (2 * limit) for turn in range(limit))  # the middles of equal parts
    return tuple(sorted(judged[place] for place in taken))


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8")).digest()


def data_digest(images: Sequence[tuple[str, tuple[int, ...]]]) -> str:
    """Return the SHA-256 of images by their ids and accepted classes, in their order."""
    digest = hashlib.sha256()
    for name, labels in images:
        digest.update(json.dumps([name, *labels]).encode() + b"\n")
    return digest.hexdigest()
