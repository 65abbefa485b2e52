"""The images of a data set, and handing them to a loader one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from PIL import Image
from torch import Tensor
from torch.utils.data import Dataset

from imlp_audit.evaluate.opening import UnreadableError

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
