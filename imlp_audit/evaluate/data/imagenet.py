"""ImageNet-1k as it was published: its classes in order, and the names of its validation images."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from imlp_audit.errors import DatasetError

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


SHIPPED = Path("timm")  # in place of a file: the labels that timm ships
_LARGEST = 2**24
_FORM = f"ReaL labels are a JSON list of {VALIDATION_IMAGES} lists of classes from 0 to 999 (real.json)"


def read_real_labels(path: Path) -> tuple[tuple[int, ...], ...]:
    """Return the accepted classes of validation images 1 to 50 000; none where people agreed on none.

    Source: real.json of google-research/reassessed-imagenet. Raises DatasetError.
    """
    if path == SHIPPED and not path.exists():
        return _shipped()
    return _parsed(_text(path), path)


@cache
def _shipped() -> tuple[tuple[int, ...], ...]:
    return _parsed(shipped_real_labels(), SHIPPED)


def _parsed(text: str, path: Path) -> tuple[tuple[int, ...], ...]:
    try:
        held: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{path} is no JSON: {str(error)[:200]}; {_FORM}") from error
    if not isinstance(held, list) or len(held) != VALIDATION_IMAGES:
        raise DatasetError(f"{path} holds {_told(held)}; {_FORM}")
    return tuple(_accepted(one, number, path) for number, one in enumerate(held, 1))


def real_labels(path: Path, ids: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Return the accepted classes of images by the number in their file's name. Raises DatasetError."""
    labels = read_real_labels(path)
    seen: dict[int, str] = {}
    for one in ids:
        number = validation_number(PurePosixPath(one).name)
        if number is None:
            raise DatasetError(
                f"{one} is not called ILSVRC2012_val_NNNNNNNN.JPEG; ReaL labels are of ImageNet-1k's validation images "
                "by that number, and of no other images"
            )
        if number in seen:
            raise DatasetError(f"{seen[number]} and {one} are the same validation image; remove one")
        seen[number] = one
    return tuple(labels[number - 1] for number in seen)


def _text(path: Path) -> str:
    if not path.is_file():
        raise DatasetError(f"{path} is no file; {_FORM}, or `timm` for those that timm ships")
    try:
        if path.stat().st_size > _LARGEST:
            raise DatasetError(f"{path} has more than {_LARGEST} bytes; {_FORM}")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path} is no UTF-8 text; {_FORM}") from error


def _accepted(held: object, number: int, path: Path) -> tuple[int, ...]:
    if not isinstance(held, list) or not all(type(label) is int and 0 <= label < 1000 for label in held):
        raise DatasetError(f"{path}: entry {number} is {held!r:.40}; {_FORM}")
    return tuple(sorted(set(held)))


def _told(held: object) -> str:
    return f"{len(held)} entries" if isinstance(held, list) else f"a {type(held).__name__}"
