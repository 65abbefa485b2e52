"""The lists of names and sizes of images, a text file a library; `python -m tests.models.names.lists` writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path


class Library(StrEnum):
    """A library whose models a recipe can name."""

    TIMM = "timm"
    TORCHVISION = "torchvision"
    TRANSFORMERS = "transformers"


OLD = "(old)"
"""What follows a name that a library keeps for old code alone."""

USUAL_SIZE = 224  # the side of the images where nothing says another


@cache
def known_models(library: Library) -> frozenset[str]:
    """Return every name that a library builds a model by: of transformers, its types of models, such as bert."""
    return frozenset(_notes(library))


@cache
def current_models(library: Library) -> frozenset[str]:
    """Return the names that a library lists: those that it only keeps for old code are left out."""
    return frozenset(name for name, note in _notes(library).items() if note != OLD)


def own_size(library: Library, name: str) -> int:
    """Return the side of the images that a library's model was published for; of several, the smallest."""
    note = _notes(library)[name]
    return int(note) if note.isdigit() else USUAL_SIZE


def size_in_name(library: Library, name: str) -> int | None:
    """Return the side of the images that a model's name ends in; None for one that does not, such as regnety_320."""
    size = own_size(library, name)
    return size if name.endswith(f"_{size}") else None


def resembles(library: Library, name: str) -> bool:
    """Return whether timm's code says that a model is not the paper's: its own, or one that tries to be like it."""
    return library is Library.TIMM and _LIKE.fullmatch(name) is not None


_LIKE = re.compile(r"coatnex?t_.*|skresnex?t.*|mixnet_xx?l|nfnet_l\d|.*_rw\d?(_.*)?")  # comments in timm's files


def version_of(library: Library) -> str:
    """Return the version of the library that its list was written from."""
    return _lines(library)[0].split()[-1]


@cache
def _notes(library: Library) -> Mapping[str, str]:
    """Return the names, each with what follows it: nothing, OLD, or the side of its images where it is not usual."""
    return {name: note for name, _, note in (line.partition(" ") for line in _lines(library)[1:])}


@cache
def _lines(library: Library) -> tuple[str, ...]:
    return tuple(Path(__file__).with_name(f"{library}.txt").read_text(encoding="utf-8").splitlines())
