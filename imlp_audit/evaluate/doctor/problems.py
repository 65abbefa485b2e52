"""The kinds of problems that a validation folder of ImageNet-1k can have."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ProblemKind(StrEnum):
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
class FolderProblem:
    """One problem, what to do next, and the files or folders that show it."""

    kind: ProblemKind
    what: str
    then: str
    names: tuple[str, ...] = ()
