"""Looks into the files of a validation folder: the first and last bytes of each, and some images in full."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from heapq import nsmallest
from pathlib import Path

from imlp_audit.evaluate.data.decode import UnreadableError, open_image
from imlp_audit.evaluate.data.ends import Ends, FileSpan, find_alike, read_ends
from imlp_audit.evaluate.data.folder import Listing
from imlp_audit.evaluate.doctor.problems import FolderProblem, ProblemKind
from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.words import count_of, list_some
from imlp_audit.processes.limits import cores
from imlp_audit.processes.workers import workers

_ENOUGH = 100  # decoded images, from which their sizes mean something
_ALIKE = 0.95  # share with the same shorter side above which images were resized; about half have 375 pixels
_JPEG = "JPEG"
_HEADS = {
    b"\xff\xd8\xff": _JPEG,
    b"\x89PNG\r\n\x1a\n": "PNG",
    b"GIF8": "GIF",
    b"RIFF": "WebP",
    b"BM": "BMP",
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"<": "HTML or XML",
    b"version https://git-lfs": "Git LFS pointers",
}


@dataclass(frozen=True)
class FileLimits:
    """How many files are opened, and how many images decoded of those that look whole, and as many of the others."""

    opened: int = 100_000  # twice the validation set
    decoded: int = 500


def _type(ends: Ends) -> str:
    """Return the type that the first bytes show."""
    return next((name for head, name in _HEADS.items() if ends.head.startswith(head)), "of an unknown type")


def _looks_whole(ends: Ends) -> bool:
    """Say whether this looks like a complete JPEG file."""
    return _type(ends) == _JPEG and ends.tail.rstrip(b"\0").endswith(b"\xff\xd9")


@dataclass(frozen=True)
class FileExamination:
    """The problems of the files, and notes on how much was looked at."""

    findings: tuple[FolderProblem, ...]
    notes: tuple[str, ...]


def look_into_files(
    root: Path, listing: Listing, *, decode_all: bool, limits: FileLimits | None = None
) -> FileExamination:
    """Look at both ends of each file below a folder, and decode some images, or all."""
    paths = {one: f"{root}{os.sep}{name}" for one, name in zip(listing.ids, listing.files, strict=True)}
    limits = limits or FileLimits()
    peeked = listing.ids if len(paths) <= limits.opened else _sample(listing.ids, limits.decoded)
    spans = {one: FileSpan(paths[one]) for one in peeked}
    ends = dict(zip(peeked, read_ends(list(spans.values())), strict=True))
    doubtful = [one for one, found in ends.items() if isinstance(found, Ends) and not _looks_whole(found)]
    sound = [one for one, found in ends.items() if isinstance(found, Ends) and _looks_whole(found)]
    chosen = (
        [*doubtful, *sound] if decode_all else [*_sample(doubtful, limits.decoded), *_sample(sound, limits.decoded)]
    )
    decoded = dict(zip(chosen, _decode([paths[one] for one in chosen], spread=decode_all), strict=True))
    reasons = {one: found for one, found in (ends | decoded).items() if isinstance(found, str)}
    types = {one: _type(f) for one, f in ends.items() if isinstance(f, Ends) and _type(f) != _JPEG and f.size}
    sides = [found for one in sound if isinstance(found := decoded.get(one), int)]
    findings = (*_find_wrong_types(types), *_find_unreadable(reasons, types), *_find_resized(sides))
    unsure = len(doubtful) - sum(one in decoded for one in doubtful)
    alike = sum(len(group) - 1 for group in find_alike(spans, ends))
    return FileExamination(findings, tuple(_notes(len(peeked), len(paths), len(decoded), unsure, alike)))


def _sample(ids: Sequence[str], count: int) -> list[str]:
    """Choose some ids by a hash: the same on every machine, in whatever order they are given."""
    return nsmallest(count, ids, key=lambda one: sha256(one.encode("utf-8")).digest())


def _decode(paths: Sequence[str], *, spread: bool) -> Iterable[int | str]:
    """Return each image's shorter side in pixels, or the reason why it cannot be read."""
    if not spread or cores() == 1:
        return map(decode, paths)
    with workers(cores()) as pool:
        return list(pool.map(decode, paths, chunksize=64))


def decode(path: str) -> int | str:
    """Return an image's shorter side in pixels, or the reason why it cannot be read."""
    try:
        return min(open_image(Path(path)).size)
    except UnreadableError as error:
        return str(error)


def _find_wrong_types(types: Mapping[str, str]) -> Iterator[FolderProblem]:
    for name, count in sorted(Counter(types.values()).items()):
        held = tuple(one for one, its in types.items() if its == name)
        what = f"{count_of(count, 'file')} {'is' if count == 1 else 'are'} {name}, not JPEG: {list_some(held)}"
        yield FolderProblem(
            ProblemKind.WRONG_TYPE, what, "use the published images: re-encoded ones give other accuracies", held
        )


def _find_unreadable(reasons: Mapping[str, str], types: Mapping[str, str]) -> Iterator[FolderProblem]:
    broken = {one: reason for one, reason in reasons.items() if one not in types}
    if broken:
        named = list_some([f"{one} ({reason})" for one, reason in broken.items()])
        what = f"{count_of(len(broken), 'image')} cannot be read: {named}"
        yield FolderProblem(
            ProblemKind.UNREADABLE, what, "download them again; eval counts and names unreadable images", tuple(broken)
        )


def _find_resized(sides: Sequence[int]) -> Iterator[FolderProblem]:
    side, count = Counter(sides).most_common(1)[0] if sides else (0, 0)
    if len(sides) >= _ENOUGH and count > _ALIKE * len(sides):
        what = f"{count} of {len(sides)} decoded images have a shorter side of {side} pixels: they were resized"
        yield FolderProblem(ProblemKind.RESIZED, what, "use the published images: resized ones give other accuracies")


def _notes(peeked: int, available: int, decoded: int, unsure: int, alike: int) -> Iterator[str]:
    yield f"looked at both ends of {readable(peeked)} of {count_of(available, 'file')}, and decoded {readable(decoded)}"
    if unsure:
        look = "looks" if unsure == 1 else "look"
        yield f"{count_of(unsure, 'more file')} {look} truncated or not like JPEG files; --all decodes them"
    if alike:
        yield f"{count_of(alike, 'file')} {'has' if alike == 1 else 'have'} the same bytes as another file"
