"""What can be wrong with a validation folder of ImageNet-1k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from imlp_audit.numbers.interval import readable

_TOLD = 3  # names listed in a line


class Kind(StrEnum):
    """What is wrong."""

    EMPTY = "empty"
    OTHER_DATA = "other_data"
    FLAT = "flat"
    DEEP = "deep"
    TRAIN = "train"
    CLASS_NAMES = "class_names"
    CLASSES = "classes"
    IMAGES = "images"
    IMAGES_PER_CLASS = "images_per_class"
    FILE_NAMES = "file_names"
    TWICE = "twice"
    CLASS_ORDER = "class_order"
    LEFT_OVER = "left_over"
    WRONG_TYPE = "wrong_type"
    UNREADABLE = "unreadable"
    RESIZED = "resized"


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, what to do next, and the files or folders that show it."""

    kind: Kind
    what: str
    then: str
    names: tuple[str, ...] = ()


def some(names: Sequence[str]) -> str:
    """List the first names, and say how many more there are."""
    more = f" and {len(names) - _TOLD} more" if len(names) > _TOLD else ""
    return ", ".join(names[:_TOLD]) + more


def counted(number: int, noun: str) -> str:
    """Return a number of things, such as `1 image` or `50 000 images`; nouns ending in s take es."""
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{readable(number)} {noun if number == 1 else plural}"
