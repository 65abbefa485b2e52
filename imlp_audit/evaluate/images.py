"""Images one by one: opened from untrusted files, handed to a loader, chosen, and told apart by their bytes."""

from __future__ import annotations

import errno
import json
import os
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from typing import TypeAlias
from unicodedata import normalize

from PIL import Image, UnidentifiedImageError
from torch import Tensor
from torch.utils.data import Dataset

from imlp_audit.errors import DatasetError
from imlp_audit.files import FileError, read_bytes

Transform: TypeAlias = Callable[[Image.Image], Tensor]

ENDINGS = (".png", ".jpg", ".jpeg")  # the endings that timm's readers accept
FORMATS = ("JPEG", "PNG", "GIF", "BMP", "WEBP", "TIFF")  # whatever the file's name; none of them starts a program
MAX_BYTES = 2**28
MAX_PIXELS = 89_478_485  # Pillow's own limit, above which it warns
MAX_ASPECT = 256  # resized to 384 pixels at its shorter side, such an image has 38 million
_MACHINE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)  # errors that are not the image's fault
_READERS = 8  # disks and networks answer several requests at once


class UnreadableError(DatasetError):
    """One image cannot be read. The message gives the reason, not the image."""


def open_image(held: bytes) -> Image.Image:
    """Return an image, decoded in full and in RGB, from a file's bytes. Raises UnreadableError.

    The conversion is timm's: the first frame, 16 bits cut to 8 by Pillow, no rotation by EXIF. Nothing is decoded if
    the header claims too many pixels. Not thread-safe: Pillow's warnings are silenced meanwhile.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow warns about metadata and palettes of images that it reads well
            return _decode(held)
    except (UnreadableError, MemoryError):
        raise
    except Exception as error:  # on bytes that are not an image, decoders fail in every possible way
        if isinstance(error, OSError) and error.errno in _MACHINE:
            raise
        raise UnreadableError(_reason(error)) from error


def _decode(held: bytes) -> Image.Image:
    if not held:
        raise UnreadableError("the file is empty")
    with Image.open(BytesIO(held), formats=FORMATS) as image:
        width, height = image.size
        if width * height > MAX_PIXELS:
            raise UnreadableError(f"{width} x {height} pixels; the limit is {MAX_PIXELS} (a decompression bomb?)")
        if max(width, height) > MAX_ASPECT * min(width, height):
            raise UnreadableError(f"{width} x {height} pixels: one side is more than {MAX_ASPECT} times the other")
        return image.convert("RGB")


def _reason(error: Exception) -> str:
    if isinstance(error, Image.DecompressionBombError):  # twice the limit: Pillow refuses before it gives the size
        return f"more than {MAX_PIXELS} pixels (a decompression bomb?)"
    if isinstance(error, UnidentifiedImageError):
        return "not an image in a known format"
    return str(error) or type(error).__name__


class PictureSource(ABC):
    """RGB images by number, and the bytes that each is made from; raises UnreadableError."""

    def __getitem__(self, index: int) -> Image.Image:
        return open_image(self.read(index))

    @abstractmethod
    def read(self, index: int) -> bytes:
        """Return the bytes of an image. Raises UnreadableError."""


@dataclass(frozen=True)
class FileImages(PictureSource):
    """Images in files of their own."""

    paths: Sequence[str]

    def read(self, index: int) -> bytes:
        """Return the bytes of a file. Raises UnreadableError."""
        try:
            return read_bytes(self.paths[index], MAX_BYTES)
        except FileError as error:
            cause = error.__cause__
            if isinstance(cause, OSError) and cause.errno in _MACHINE:
                raise cause from None
            raise UnreadableError(error.reason) from error


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
            image = self.images.dataset[self.indices[position]]
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
    judged.sort(key=lambda index: (_hash(str(min(labels[index]))), _hash(ids[index]), index))
    middles = ((2 * turn + 1) * len(judged) // (2 * limit) for turn in range(limit))  # of equal parts
    return tuple(sorted(judged[place] for place in middles))


def _hash(text: str) -> bytes:
    return sha256(text.encode("utf-8")).digest()


def data_digest(images: Sequence[tuple[str, tuple[int, ...]]]) -> str:
    """Return the SHA-256 of images, given as ids and accepted classes in order."""
    digest = sha256()
    for name, labels in images:
        digest.update(json.dumps([name, *labels]).encode() + b"\n")
    return digest.hexdigest()


def in_order(names: Collection[str] | Iterator[str]) -> dict[str, str]:
    """Return names by id, in timm's order: numbers within names by value, ignoring case.

    Raises DatasetError if two names have the same id.
    """
    identified: dict[str, str] = {}
    for name in names:
        spelled = readable_id(name)
        if identified.setdefault(spelled, name) != name:
            raise DatasetError(
                f"two names differ only in their Unicode form: {spelled!r}; rename or remove one of them"
            )
    return dict(sorted(identified.items(), key=lambda pair: natural_key(pair[0])))


def readable_id(name: str) -> str:
    """Return a path as text fit for any file and terminal: composed Unicode, unprintable characters escaped."""
    composed = normalize("NFC", name.replace(os.sep, "/"))
    if composed.isprintable():  # bytes that are not UTF-8 are not printable
        return composed
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in composed)


def natural_key(name: str) -> tuple[list[tuple[int, str] | str], str]:
    """Return timm's sorting key, and the name itself to order names that timm leaves in the disk's order."""
    parts = re.split("([0-9]+)", name.lower())
    return [_by_value(part) if place % 2 else part for place, part in enumerate(parts)], name


def _by_value(digits: str) -> tuple[int, str]:
    """Order digits by the number they write; Python refuses to parse thousands of digits."""
    short = digits.lstrip("0")
    return len(short), short


def hash_images(images: Images, chosen: Sequence[int]) -> dict[str, bytes | str]:
    """Return by id the SHA-256 of the bytes of each chosen image, or why it cannot be read."""

    def hash_image(index: int) -> bytes | str:
        try:
            held = images.dataset.read(index)
        except UnreadableError as error:
            return str(error)
        return sha256(held).digest() if held else "empty"

    # rows of parquet are read a group at a time, which threads would each read again
    with ThreadPoolExecutor(_READERS if isinstance(images.dataset, FileImages) else 1) as pool:
        return dict(zip((images.ids[index] for index in chosen), pool.map(hash_image, chosen), strict=True))
