"""ImageNet-1k as it was published: its classes in order, and the names of its validation images."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

VALIDATION_IMAGES = 50_000
IMAGES_A_CLASS = 50
_NAME = re.compile(r"ILSVRC2012_val_([0-9]{8})\.jpe?g", re.IGNORECASE)


@cache
def imagenet_classes() -> tuple[str, ...]:
    """Return the 1000 WordNet ids in the order of every classifier's outputs, which is that of their sorting.

    Source: ILSVRC 2012, as timm ships it.
    """
    return tuple(_shipped("imagenet_synsets.txt").split())


def shipped_real_labels() -> str:
    """Return ReaL labels (Beyer et al. 2020, "Are we done with ImageNet?") as JSON, from timm's wheel."""
    return _shipped("imagenet_real_labels.json")


def validation_number(name: str) -> int | None:
    """Return the number, from 1, of a validation image by its file's name; None for any other file."""
    found = _NAME.fullmatch(name)
    return int(found[1]) if found and 1 <= int(found[1]) <= VALIDATION_IMAGES else None


def _shipped(name: str) -> str:
    timm = find_spec("timm")  # found without being imported, which takes seconds
    assert timm is not None
    assert timm.origin is not None
    return (Path(timm.origin).parent / "data" / "_info" / name).read_text(encoding="utf-8")
