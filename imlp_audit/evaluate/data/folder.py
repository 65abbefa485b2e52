"""Finding the images below a folder: the same images in the same order on every machine."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from unicodedata import normalize

from imlp_audit.errors import DatasetError

ENDINGS = (".png", ".jpg", ".jpeg")  # the endings that timm's readers accept
SPLIT_SYNONYMS = (("validation", "val", "valid", "eval", "evaluation"), ("train", "training"))


@dataclass(frozen=True)
class Listing:
    """The contents of a folder.

    `files` are the images' paths as the disk spells them, in the order of `ids`: the same paths with "/" and in
    composed Unicode. `folders` are the ids of the direct subfolders. `skipped` counts the other files by kind.
    """

    files: tuple[str, ...]
    ids: tuple[str, ...]
    folders: tuple[str, ...]
    skipped: Mapping[str, int]


@dataclass
class _Walk:
    root: Path
    files: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    seen: dict[tuple[int, int], str] = field(default_factory=dict)


def list_images(root: Path) -> Listing:
    """List the images below a folder, following links. Raises DatasetError for a folder that is reached twice."""
    walk = _Walk(root)
    pending = [""]
    while pending:
        pending.extend(_enter(walk, pending.pop()))
    identified = in_order(walk.files)
    return Listing(
        tuple(identified.values()),
        tuple(identified),
        tuple(in_order(folder for folder in walk.folders if "/" not in folder)),
        dict(sorted(walk.skipped.items())),
    )


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


def chosen_folder(root: Path, split: str) -> Path:
    """Return the subfolder of a split, by timm's synonyms too; the folder itself if there is none."""
    alike = next((names for names in SPLIT_SYNONYMS if split in names), ())
    return next((root / name for name in (split, *alike) if name and (root / name).is_dir()), root)


def _enter(walk: _Walk, here: str) -> Iterator[str]:
    """Sort one folder's contents into the walk, and yield its subfolders."""
    folder = walk.root / here
    try:
        status = folder.stat()
        with os.scandir(folder) as entries:
            held = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        raise DatasetError(f"{folder} cannot be listed: {error.strerror}") from error
    before = walk.seen.setdefault((status.st_dev, status.st_ino), here)
    if before != here:
        raise DatasetError(
            f"{folder} is a link to {walk.root / before}, so its images would count twice or without end; "
            "remove the link"
        )
    for entry in held:
        name = f"{here}/{entry.name}" if here else entry.name
        if entry.name.startswith("."):
            walk.skipped["hidden"] += 1
        elif _is_folder(entry):
            walk.folders.append(name)
            yield name
        else:
            _sort_file(walk, entry, name)


def _sort_file(walk: _Walk, entry: os.DirEntry[str], name: str) -> None:
    _, dot, last = entry.name.rpartition(".")
    ending = readable_id(f".{last}".lower()) if dot else ""
    if not (entry.is_symlink() or entry.is_file()):
        walk.skipped["neither files nor folders"] += 1
    elif ending in ENDINGS:  # a dangling link counts as an image that cannot be read
        walk.files.append(name)
    else:
        walk.skipped[ending or "without an ending"] += 1


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False
