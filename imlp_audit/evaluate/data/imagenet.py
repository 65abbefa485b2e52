"""ImageNet-1k as it was published: its classes in order, the names of its validation images, and ReaL labels."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.data.class_map import read_text

VALIDATION_IMAGES = 50_000
IMAGES_A_CLASS = 50
SHIPPED = Path("timm")  # in place of a file: the labels that timm ships
_NAME = re.compile(r"ILSVRC2012_val_([0-9]{8})(_n[0-9]{8})?\.jpe?g", re.IGNORECASE)  # the hub's names end in the class
_FORM = f"ReaL labels are a JSON list of {VALIDATION_IMAGES} lists of classes from 0 to 999 (real.json)"


@cache
def imagenet_classes() -> tuple[str, ...]:
    """Return the 1000 WordNet ids, sorted; every classifier's outputs are in this order.

    Source: ILSVRC 2012, as timm ships it.
    """
    return tuple(_read_shipped("imagenet_synsets.txt").split())


@cache
def imagenet_names() -> Mapping[str, frozenset[int]]:
    """Return the classes of each WordNet id and of each name in lower case; a few names are those of two classes.

    Source: timm's table of synsets and lemmas, which is the one that the hub's `imagenet-1k` names its classes by.
    """
    lemmas = dict(line.split("\t") for line in _read_shipped("imagenet_synset_to_lemma.txt").splitlines() if line)
    found: dict[str, set[int]] = {}
    for place, synset in enumerate(imagenet_classes()):
        for name in (synset, lemmas[synset].lower()):
            found.setdefault(name, set()).add(place)
    found["crane2"] = {imagenet_classes().index("n03126707")}  # so the hub tells the machine from the bird
    return {name: frozenset(places) for name, places in found.items()}


def validation_number(name: str) -> int | None:
    """Return the number, from 1, of a validation image by its file's name; None for any other file."""
    match = _NAME.fullmatch(name)
    return int(match[1]) if match and 1 <= int(match[1]) <= VALIDATION_IMAGES else None


def read_real_labels(path: Path) -> tuple[tuple[int, ...], ...]:
    """Return the accepted classes of validation images 1 to 50 000, none for an image on which people did not agree.

    Source: real.json of google-research/reassessed-imagenet. Raises DatasetError.
    """
    if path == SHIPPED and not path.exists():
        return shipped_real_labels()
    return _parse(read_text(path, f"{_FORM}, or `timm` for the labels that timm ships"), path)


@cache
def shipped_real_labels() -> tuple[tuple[int, ...], ...]:
    """Return the ReaL labels (Beyer et al. 2020, "Are we done with ImageNet?") in timm's wheel."""
    return _parse(_read_shipped("imagenet_real_labels.json"), SHIPPED)


def match_real_labels(path: Path, ids: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Return the accepted classes of images, by the number in each file name. Raises DatasetError."""
    labels = read_real_labels(path)
    numbers: dict[int, str] = {}
    for one in ids:
        number = validation_number(PurePosixPath(one).name)
        if number is None:
            raise DatasetError(
                f"{one} is not named ILSVRC2012_val_NNNNNNNN.JPEG; ReaL labels exist only for ImageNet-1k's validation "
                "images, and are found by that number"
            )
        if number in numbers:
            raise DatasetError(f"{numbers[number]} and {one} are the same validation image; remove one")
        numbers[number] = one
    return tuple(labels[number - 1] for number in numbers)


def _parse(text: str, path: Path) -> tuple[tuple[int, ...], ...]:
    try:
        held: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{path} is not JSON: {str(error)[:200]}; {_FORM}") from error
    if not isinstance(held, list):
        raise DatasetError(f"{path} holds a {type(held).__name__}; {_FORM}")
    if len(held) != VALIDATION_IMAGES:
        raise DatasetError(f"{path} holds {len(held)} entries; {_FORM}")
    return tuple(_check_labels(one, number, path) for number, one in enumerate(held, 1))


def _check_labels(held: object, number: int, path: Path) -> tuple[int, ...]:
    if not isinstance(held, list) or not all(type(label) is int and 0 <= label < 1000 for label in held):
        raise DatasetError(f"{path}: entry {number} is {held!r:.40}; {_FORM}")
    return tuple(sorted(set(held)))


def _read_shipped(name: str) -> str:
    timm = find_spec("timm")  # located without importing it, which takes seconds
    if timm is None or timm.origin is None:
        raise PackageNotFoundError("timm")
    return (Path(timm.origin).parent / "data" / "_info" / name).read_text(encoding="utf-8")
