"""ImageNet-1k as it was published: its classes in order, the names of its validation images, and ReaL labels."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.images import Images
from imlp_audit.numbers.words import count_of

VALIDATION_IMAGES = 50_000
_VALIDATION = re.compile(r"ILSVRC2012_val_([0-9]{8})(_n[0-9]{8})?\.jpe?g", re.IGNORECASE)  # the hub's end in the class
_ENOUGH = 20  # images from which a share means something


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
    match = _VALIDATION.fullmatch(name)
    return int(match[1]) if match and 1 <= int(match[1]) <= VALIDATION_IMAGES else None


def is_validation_image(one: str) -> bool:
    """Return whether a path has the name of a validation image."""
    return validation_number(one.rpartition("/")[2]) is not None


def match_real_labels(ids: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Return the accepted classes of images, by the number in each file name. Raises DatasetError."""
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
    return tuple(real_labels()[number - 1] for number in numbers)


def check_order(images: Images, source: str, *, mapped: bool) -> Iterator[str]:
    """Compare labels of ImageNet's validation images, known by their file names, with those that people accept (ReaL).

    Yields a note where too few agree. Raises DatasetError if less than half agree, unless the user's class map made it
    so (`mapped`): a model may have its outputs in an order of its own.
    """
    numbered = [
        (number, labels)
        for one, labels in zip(images.ids, images.labels, strict=True)
        if labels and (number := validation_number(PurePosixPath(one).name)) is not None
    ]
    count = len(imagenet_classes())
    if not numbered or images.classes not in (None, count) or max(max(one) for _, one in numbered) >= count:
        return
    accepted = real_labels()
    judged = [not set(labels).isdisjoint(accepted[number - 1]) for number, labels in numbered if accepted[number - 1]]
    if len(judged) < _ENOUGH or sum(judged) >= 0.75 * len(judged):
        return
    said = (
        f"only {sum(judged)} of {count_of(len(judged), 'image')} have a label that people accept (ReaL); in "
        "ImageNet's own order nine in ten do"
    )
    if 2 * sum(judged) < len(judged) and not mapped:
        raise DatasetError(
            f"{source}: {said}, so the classes are in another order; sort the images again, or give --class-map"
        )
    yield f"{images.name}: {said}; are the classes in the order of the model's outputs?"


@cache
def real_labels() -> tuple[tuple[int, ...], ...]:
    """Return the classes that people accept for validation images 1 to 50 000; none where they did not agree.

    Source: Beyer et al. 2020, "Are we done with ImageNet?", real.json of google-research/reassessed-imagenet, as timm
    ships it.
    """
    return tuple(tuple(sorted(set(labels))) for labels in json.loads(_read_shipped("imagenet_real_labels.json")))


def _read_shipped(name: str) -> str:
    timm = find_spec("timm")  # located without importing it, which takes seconds
    if timm is None or timm.origin is None:
        raise PackageNotFoundError("timm")
    return (Path(timm.origin).parent / "data" / "_info" / name).read_text(encoding="utf-8")
