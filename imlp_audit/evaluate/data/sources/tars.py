"""Images in .tar files, read in place: nothing is unpacked, and no file stays open."""

from __future__ import annotations

import json
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from PIL import Image

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.data.decode import MAX_BYTES, open_image_from
from imlp_audit.evaluate.data.ends import FileSpan
from imlp_audit.evaluate.data.folder import ENDINGS, in_order, readable_id
from imlp_audit.evaluate.data.images import Images
from imlp_audit.evaluate.data.sources.splits import whole_split
from imlp_audit.files import MAX_DOCUMENT_BYTES, FileError, open_regular, read_text

_SHARD_ENDINGS = ("jpg", "png", "webp", "jpeg")  # webdataset's endings, by which timm finds the image of a sample
_MARK = bytes(1024)  # how a .tar ends


@dataclass(frozen=True)
class TarMember:
    """A file in a .tar: its name there, the offset of its bytes, and their number."""

    archive: Path
    name: str
    offset: int
    size: int

    def read(self) -> bytes:
        """Return the file's bytes, at most one more than an image may have."""
        with self.archive.open("rb") as file:
            file.seek(self.offset)
            return file.read(min(self.size, MAX_BYTES + 1))


@dataclass(frozen=True)
class TarImages:
    """Images in .tar files, each with its class."""

    members: tuple[TarMember, ...]
    classes: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, index: int) -> tuple[Image.Image, int]:
        return open_image_from(self.members[index].read), self.classes[index]

    def span(self, index: int) -> FileSpan:
        """Return where the bytes of an image lie."""
        member = self.members[index]
        return FileSpan(str(member.archive), member.offset, member.size)


def images_in(archive: Path) -> dict[str, TarMember]:
    """Return the images of a .tar by id, in order; folders above CLASS/IMAGE are left out of the ids."""
    found = {member.name: member for member in members_of(archive) if member.name.lower().endswith(ENDINGS)}
    while found and len(tops := {name.partition("/")[0] for name in found}) == 1:
        if not all(name.count("/") > 1 for name in found):
            break
        found = {name.removeprefix(f"{next(iter(tops))}/"): member for name, member in found.items()}
    return {one: found[name] for one, name in in_order(found).items()}


def members_of(archive: Path) -> list[TarMember]:
    """List the non-hidden files in a .tar, hard links too. Raises DatasetError, also for other links."""
    try:
        with open_regular(archive) as file, tarfile.open(fileobj=file, mode="r:") as opened_tar:
            members = list(_list(archive, opened_tar))
            file.seek(opened_tar.offset)  # the reader stops at a header that it cannot read
            whole = not any(file.read(tarfile.BLOCKSIZE))
            file.seek(-min(len(_MARK), file.seek(0, 2)), 2)
            whole = file.read() == _MARK and whole
    except (FileError, tarfile.TarError, OSError, ValueError, EOFError) as error:
        raise DatasetError(
            f"{archive} is not a readable .tar file (compressed ones are not supported): {error}"
        ) from error
    if not whole:
        raise DatasetError(f"{archive} lacks the end of a .tar file: it is truncated; download it again")
    twice = next((name for name, times in Counter(one.name for one in members).items() if times > 1), None)
    if twice is not None:
        raise DatasetError(f"{archive} holds {twice} more than once; write the archive again")
    return members


def _list(archive: Path, opened_tar: tarfile.TarFile) -> Iterator[TarMember]:
    held: dict[str, TarMember] = {}
    for info in opened_tar:
        name = info.name.removeprefix("./")
        at: TarMember | None = None
        if info.isreg() and not info.issparse():
            at = TarMember(archive, name, info.offset_data, info.size)
        elif info.islnk() and not info.size:
            at = held.get(info.linkname.removeprefix("./"))
        if at is not None:
            held[name] = at
        if Path(name).name.startswith("."):
            continue
        if at is not None:
            yield at if at.name == name else replace(at, name=name)
        elif info.isreg() or info.islnk() or info.issym():
            kind = "a sparse file" if info.isreg() else "a link that cannot be followed"
            raise DatasetError(
                f"{archive}: {readable_id(name)} is {kind}, so images would be missing; write the archive again with "
                "the files themselves (tar --dereference --hard-dereference)"
            )


def open_shards(source: str, split: str) -> Images:
    """Open webdataset's shards: a .tar file or a folder of them, with pairs KEY.jpg, KEY.cls. Raises DatasetError."""
    place = Path(source)
    found: dict[str, tuple[TarMember, int]] = {}
    for shard in _shards(place, split):
        for one, sample in _samples(shard):
            if one in found:
                raise DatasetError(f"{shard}: the sample {one} is there twice; rename or remove one of them")
            found[one] = sample
    if not found:
        raise DatasetError(f"{place} holds no pair of an image KEY.jpg (or .png, .webp) and its class KEY.cls")
    classes = tuple(label for _, label in found.values())
    dataset = TarImages(tuple(member for member, _ in found.values()), classes)
    labels = tuple((label,) for label in classes)
    return Images(place.stem, dataset, tuple(found), labels, None, order="the numbers in the shards' .cls files")


def holds_samples(archive: Path) -> bool:
    """Return whether a .tar is a shard of webdataset: a file of a class lies in it. Raises DatasetError."""
    return any(member.name.lower().endswith(".cls") for member in members_of(archive))


def _shards(place: Path, split: str) -> list[Path]:
    if place.is_file():
        return [place]
    described = next((place / name for name in ("_info.json", "info.json") if (place / name).is_file()), None)
    if described is not None:
        return [place / name for name in _file_names(described, split)]
    return [place / name for name in whole_split(list_shards(place), split, str(place))]


def list_shards(folder: Path) -> tuple[str, ...]:
    """Return the names of the .tar files in a folder, in order."""
    return tuple(in_order(path.name for path in folder.glob("*.tar")))


def _file_names(described: Path, split: str) -> list[str]:
    try:
        names = json.loads(read_text(described, MAX_DOCUMENT_BYTES))["splits"][split]["filenames"]
    except (FileError, ValueError, RecursionError, KeyError, TypeError) as error:
        raise DatasetError(
            f"{described} lists no files for the split {split!r}; pass --split with one that it lists"
        ) from error
    if not isinstance(names, list) or not all(isinstance(name, str) and Path(name).name == name for name in names):
        raise DatasetError(f"{described} lists files of the split {split!r} that are not plain names in its own folder")
    return names


def _samples(shard: Path) -> Iterator[tuple[str, tuple[TarMember, int]]]:
    """Yield the id of each sample of a shard with its image and its class."""
    held: dict[str, dict[str, TarMember]] = {}
    for member in members_of(shard):
        folder, slash, name = member.name.rpartition("/")
        key, _, ending = name.partition(".")
        parts = held.setdefault(f"{folder}{slash}{key}", {})
        if ending.lower() in parts:
            alike = f"{readable_id(parts[ending.lower()].name)} and {readable_id(member.name)}"
            raise DatasetError(f"{shard} holds {alike}, which differ only in capitals; remove one of them")
        parts[ending.lower()] = member
    for key, parts in held.items():
        image = next((parts[ending] for ending in _SHARD_ENDINGS if ending in parts), None)
        if image is None and "cls" in parts:
            raise DatasetError(f"{shard}: the sample {key} has a class but no image that ends in .jpg, .png or .webp")
        if image is not None:
            yield readable_id(f"{shard.stem}/{key}"), (image, _class(parts, shard, key))


def _class(parts: Mapping[str, TarMember], shard: Path, key: str) -> int:
    text = parts["cls"].read().strip() if "cls" in parts else b""
    if not text.isdigit() or len(text) > 9:
        raise DatasetError(
            f"{shard}: the sample {key} has no class; add a {key}.cls that holds the class number, from 0"
        )
    return int(text)
