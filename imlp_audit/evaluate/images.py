"""Images one by one: opened from untrusted files, handed to a loader, chosen, and told apart by their bytes."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import file_digest, sha256
from io import BytesIO
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar
from unicodedata import normalize

from PIL import Image, UnidentifiedImageError
from torch import Tensor
from torch.utils.data import Dataset

from imlp_audit.errors import DatasetError
from imlp_audit.numbers.words import count_of, list_some

Transform: TypeAlias = Callable[[Image.Image], Tensor]
Found = TypeVar("Found")

ENDINGS = (".png", ".jpg", ".jpeg")  # the endings that timm's readers accept
FORMATS = ("JPEG", "PNG", "GIF", "BMP", "WEBP", "TIFF")  # whatever the file's name; none of them starts a program
MAX_BYTES = 2**28
MAX_PIXELS = 89_478_485  # Pillow's own limit, above which it warns
MAX_ASPECT = 256  # resized to 384 pixels at its shorter side, such an image has 38 million
_MACHINE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)  # errors that are not the image's fault
_END = 64  # bytes at either end
_FOOTER = 64 * 1024  # bytes of a file of parquet: the sizes of its columns, and their smallest and largest values
_READERS = 8  # disks and networks answer several requests at once


class UnreadableError(DatasetError):
    """One image cannot be read. The message gives the reason, not the image."""


def open_image(source: Path | bytes) -> Image.Image:
    """Return an image, decoded in full and in RGB, from a file or a file's bytes. Raises UnreadableError.

    The conversion is timm's: the first frame, 16 bits cut to 8 by Pillow, no rotation by EXIF. Nothing is decoded if
    the header claims too many pixels. Not thread-safe: Pillow's warnings are silenced meanwhile.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow warns about metadata and palettes of images that it reads well
            return _decode(source)
    except (UnreadableError, MemoryError):
        raise
    except Exception as error:  # on bytes that are not an image, decoders fail in every possible way
        if isinstance(error, OSError) and error.errno in _MACHINE:
            raise
        raise UnreadableError(_reason(error)) from error


def _decode(source: Path | bytes) -> Image.Image:
    if isinstance(source, Path) and not stat.S_ISREG(source.stat().st_mode):
        raise UnreadableError("not a regular file")
    length = len(source) if isinstance(source, bytes) else source.stat().st_size
    if length == 0:
        raise UnreadableError("the file is empty")
    if length > MAX_BYTES:
        raise UnreadableError(f"the file has {length} bytes; the limit is {MAX_BYTES}")
    with Image.open(BytesIO(source) if isinstance(source, bytes) else source, formats=FORMATS) as image:
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
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno)
    return str(error) or type(error).__name__


class PictureSource(Protocol):
    """A map-style data set of RGB images; raises UnreadableError."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Image.Image: ...


@dataclass(frozen=True)
class FileImages:
    """Images in files of their own."""

    paths: Sequence[str]

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> Image.Image:
        return open_image(Path(self.paths[index]))


@dataclass(frozen=True)
class Images:
    """Images in a fixed order.

    `name` is the data set's slug if it is known, and its folder's name otherwise. `ids` are unique. `labels` are the
    accepted classes of each image; an image without any is not judged. `classes` is the number of classes, None if it
    is not known. `notes` are shown to the user before the first batch, and `order` says what decides which class has
    which number. `tables` are the paths of the files that hold images in another form.
    """

    name: str
    dataset: PictureSource
    ids: tuple[str, ...]
    labels: tuple[tuple[int, ...], ...]
    classes: int | None
    notes: tuple[str, ...] = ()
    order: str = ""
    tables: tuple[str, ...] = ()

    def paths(self, chosen: Sequence[int]) -> dict[str, str]:
        """Return the files of chosen images by id; nothing for images without files of their own."""
        dataset = self.dataset
        return {self.ids[at]: dataset.paths[at] for at in chosen} if isinstance(dataset, FileImages) else {}


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


@dataclass(frozen=True)
class Ends:
    """The number of bytes, and the first and the last ones."""

    size: int
    head: bytes
    tail: bytes


def chosen_ends(images: Images, chosen: Sequence[int]) -> dict[str, Ends | str]:
    """Return by id both ends of each chosen image, or why it cannot be read; nothing for images without files."""
    paths = images.paths(chosen)
    return dict(zip(paths, _in_parallel(_read_ends, list(paths.values())), strict=True))


def bytes_digest(images: Images, ends: Mapping[str, Ends | str]) -> str:
    """Return a digest of the sizes and ends of images, or of the files of tables that hold them."""
    tables = [_read_ends(path, _FOOTER) for path in images.tables]
    whole = sha256(repr([one if isinstance(one, str) else (one.size, one.tail) for one in tables]).encode())
    for one in ends.items():
        whole.update(repr(one).encode())
    return whole.hexdigest()


def whole_digest(images: Images, chosen: Sequence[int]) -> str:
    """Return a digest of all bytes of images, or of the files of tables that hold them; each is read once."""
    paths = [*images.paths(chosen).values(), *images.tables]
    return sha256(repr(_in_parallel(_hash_file, paths)).encode()).hexdigest()


def find_repeats(images: Images, chosen: Sequence[int], ends: Mapping[str, Ends | str]) -> Iterator[str]:
    """Yield notes on images that have the same bytes as another one, and on those of them with different labels."""
    paths, labels = images.paths(chosen), {images.ids[index]: images.labels[index] for index in chosen}
    groups = _find_alike(paths, ends)
    more = sum(len(group) - 1 for group in groups)
    torn = [group for group in groups if len({labels[one] for one in group}) > 1]
    same = (more, "the same bytes as another image", groups), (len(torn), "copies in several classes", torn)
    for count, what, some in same:
        if count:
            have = "has" if count == 1 else "have"
            yield f"{count_of(count, 'image')} {have} {what}: {list_some([' = '.join(group) for group in some])}"


def _find_alike(paths: Mapping[str, str], ends: Mapping[str, Ends | str]) -> list[list[str]]:
    """Return groups of at least two ids that have the same bytes; only images whose ends are equal are read."""
    by_ends: dict[Ends, list[str]] = defaultdict(list)
    for one, found in ends.items():
        if isinstance(found, Ends) and 0 < found.size <= MAX_BYTES:
            by_ends[found].append(one)
    by_bytes: dict[tuple[Ends, bytes], list[str]] = defaultdict(list)
    for found, group in by_ends.items():
        for one in group if len(group) > 1 else ():
            if isinstance(digest := _hash_file(paths[one]), bytes):
                by_bytes[found, digest].append(one)
    return [group for group in by_bytes.values() if len(group) > 1]


def _in_parallel(read: Callable[[str], Found], paths: Sequence[str]) -> list[Found]:
    with ThreadPoolExecutor(_READERS) as pool:
        return list(pool.map(read, paths))


def _hash_file(path: str) -> bytes | str:
    found = _read_ends(path)
    if isinstance(found, str):
        return found
    try:
        with Path(path).open("rb") as file:
            return file_digest(file, "sha256").digest()
    except OSError as error:
        return error.strerror or str(error)


def _read_ends(path: str, length: int = _END) -> Ends | str:
    """Return both ends of a file, or the reason why it cannot be read."""
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # opening a pipe would wait for a writer
    except OSError as error:
        return error.strerror or str(error)
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            return "not a regular file"
        length = min(status.st_size, length)
        return Ends(status.st_size, os.pread(file, length, 0), os.pread(file, length, status.st_size - length))
    except OSError as error:
        return error.strerror or str(error)
    finally:
        os.close(file)
