"""The lists of names, a text file a library; `python -m tests.models.names.lists` writes them."""

from __future__ import annotations

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


@cache
def known_models(library: Library) -> frozenset[str]:
    """Return every name that a library builds a model by: of transformers, its types of models, such as bert."""
    return frozenset(line.removesuffix(f" {OLD}") for line in _lines(library)[1:])


@cache
def current_models(library: Library) -> frozenset[str]:
    """Return the names that a library lists: those that it only keeps for old code are left out."""
    return frozenset(line for line in _lines(library)[1:] if not line.endswith(OLD))


def version_of(library: Library) -> str:
    """Return the version of the library that its list was written from."""
    return _lines(library)[0].split()[-1]


@cache
def _lines(library: Library) -> tuple[str, ...]:
    return tuple(Path(__file__).with_name(f"{library}.txt").read_text(encoding="utf-8").splitlines())
