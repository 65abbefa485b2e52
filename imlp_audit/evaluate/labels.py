"""The class of each image: by the names of class folders, class maps, and what was published of ImageNet-1k."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.images import Images, in_order, readable_id
from imlp_audit.files import BOM, FileError, read_text
from imlp_audit.numbers.words import list_some

VALIDATION_IMAGES = 50_000
_VALIDATION = re.compile(r"ILSVRC2012_val_([0-9]{8})(_n[0-9]{8})?\.jpe?g", re.IGNORECASE)  # the hub's end in the class
_ENOUGH = 20  # images from which a share means something
_MAP_FORMS = "a class map is one name per line in the order of the model's outputs, or lines `name<TAB>index`"
_LARGEST = 2**24  # bytes of a list of names: a hundred thousand take three million
_NUMBER = re.compile("[0-9]{1,9}")
_NEGATIVE = re.compile(r"[-\u2212][0-9]+(\.[0-9]*)?")


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


def validation_number(path: str) -> int | None:
    """Return the number, from 1, of a validation image by its file's name; None for any other file."""
    match = _VALIDATION.fullmatch(PurePosixPath(path).name)
    return int(match[1]) if match and 1 <= int(match[1]) <= VALIDATION_IMAGES else None


def match_real_labels(ids: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Return the accepted classes of images, by the number in each file name. Raises DatasetError."""
    numbers: dict[int, str] = {}
    for one in ids:
        number = validation_number(one)
        if number is None:
            raise DatasetError(
                f"{one} is not named ILSVRC2012_val_NNNNNNNN.JPEG; ReaL labels exist only for ImageNet-1k's validation "
                "images, and are found by that number"
            )
        if number in numbers:
            raise DatasetError(f"{numbers[number]} and {one} are the same validation image; remove one")
        numbers[number] = one
    return tuple(real_labels()[number - 1] for number in numbers)


def check_order(images: Images, source: str) -> None:
    """Compare labels of ImageNet's validation images, known by their file names, with those that people accept (ReaL).

    Raises DatasetError if less than half agree.
    """
    count, accepted = len(imagenet_classes()), real_labels()
    numbered = {
        number: set(labels)
        for one, labels in zip(images.ids, images.labels, strict=True)
        if labels and (number := validation_number(one)) is not None
    }
    if images.classes not in (None, count) or any(max(labels) >= count for labels in numbered.values()):
        return  # the outputs are of another list
    pairs = ((labels, accepted[number - 1]) for number, labels in numbered.items())
    judged = [not labels.isdisjoint(theirs) for labels, theirs in pairs if theirs]
    if len(judged) >= _ENOUGH and 2 * sum(judged) < len(judged):
        raise DatasetError(
            f"{source}: only {sum(judged)} of {len(judged)} images have a label that people accept (ReaL); in "
            "ImageNet's own order nine in ten do, so the classes are in another order; sort the images again, or "
            "give --class-map"
        )


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


@dataclass(frozen=True)
class Classes:
    """The class of each name, from 0; `count` is the number of classes, None if an index has no name."""

    index: Mapping[str, int]
    count: int | None
    notes: tuple[str, ...] = ()


def class_folders(ids: Sequence[str], source: str) -> tuple[str, ...]:
    """Return the class folder of each image. Raises DatasetError unless every id is CLASS/IMAGE.

    Deeper folders are refused because timm reads the last folder as the class and torchvision the first.
    """
    loose = [one for one in ids if "/" not in one]
    if loose:
        raise DatasetError(
            f"{source} has images in no class folder, so of an unknown class: {list_some(loose)}; move images to "
            "DIR/CLASS/IMAGE"
        )
    deep = [one for one in ids if one.count("/") > 1]
    if deep:
        raise DatasetError(
            f"{source} has images deeper than DIR/CLASS/IMAGE, where timm and torchvision read different classes: "
            f"{list_some(deep)}; give the folder whose subfolders are the classes, or its name as --split"
        )
    return tuple(PurePosixPath(one).parts[0] for one in ids)


def assign_classes(present: Collection[str], folders: Collection[str], given: Classes | None) -> Classes:
    """Assign classes to class folders, by their names. `present` are the folders with images, `folders` all of them.

    A class map decides; otherwise ImageNet-1k's published order (some of its folders are enough), then names that are
    numbers, then timm's order of all names. Raises DatasetError if a folder has no class, or if
    two names differ only in their Unicode form.
    """
    spelled = in_order({*present, *folders})
    found = _assign({readable_id(name) for name in present}, {readable_id(name) for name in folders}, given)
    return replace(found, index={spelled[name]: index for name, index in found.index.items()})


def _assign(present: Collection[str], folders: Collection[str], given: Classes | None) -> Classes:
    if given is not None:
        return _by_map(present, given)
    published = {name: index for index, name in enumerate(imagenet_classes())}
    known = [name for name in present if name in published]
    if 2 * len(known) > len(present):
        return _by_wordnet_id(present, known, published)
    negative = sorted(filter(_NEGATIVE.fullmatch, {*present, *folders}))
    if negative:
        raise DatasetError(
            f"negative numbers of classes would shift all others, because classes are numbered from 0: "
            f"{list_some(negative)}; remove the images that have no class, or give --class-map"
        )
    if all(map(_NUMBER.fullmatch, present)):
        return _by_number({*present, *filter(_NUMBER.fullmatch, folders)})
    ordered = list(in_order({*present, *folders}))
    index = {name: place for place, name in enumerate(ordered)}
    return Classes(index, len(ordered), tuple(_warnings(ordered, present)))


def order_of_names(names: Sequence[str]) -> tuple[tuple[int, ...], str]:
    """Return the class of each of a data set's named classes, and what decides it.

    The names of ImageNet-1k's 1000 classes, or their WordNet ids, decide, wherever they stand in the list; the place in
    the list decides otherwise. Raises DatasetError if names are ImageNet's and do not give each class once.
    """
    places, published = tuple(range(len(names))), imagenet_names()
    found = [published.get(name.lower(), frozenset()) for name in names]
    if len(names) != len(imagenet_classes()) or 2 * sum(map(bool, found)) <= len(names):
        return places, "the order in which the data set names its classes"
    order = tuple(place if place in one or not one else min(one) for place, one in zip(places, found, strict=True))
    if len(set(order)) < len(order) or not all(found):
        raise DatasetError(
            "the names of the classes are ImageNet-1k's, but do not name each class once, so their order is unknown; "
            "give --class-map with each name and its class"
        )
    return order, "ImageNet-1k's published order, by the names of the classes"


def _by_map(present: Collection[str], given: Classes) -> Classes:
    missing = sorted(name for name in present if name not in given.index)
    if missing:
        raise DatasetError(
            f"the class map has no entry for {list_some(missing)}; add a line for each, or remove the class"
        )
    return replace(given, index={name: given.index[name] for name in present})


def _by_wordnet_id(present: Collection[str], known: Sequence[str], published: Mapping[str, int]) -> Classes:
    strange = sorted(set(present) - set(known))
    if strange:
        raise DatasetError(
            f"{len(known)} class folders are classes of ImageNet-1k, and others would shift all classes that follow: "
            f"{list_some(strange)}; rename or remove them, or give --class-map"
        )
    notes = (f"{len(known)} of the 1000 classes of ImageNet-1k are here",) if len(known) < len(published) else ()
    return Classes({name: published[name] for name in known}, len(published), notes)


def _by_number(names: Collection[str]) -> Classes:
    index = {name: int(name) for name in names}
    twice = [number for number, times in Counter(index.values()).items() if times > 1]
    if twice:
        raise DatasetError(f"two class folders have the number {twice[0]}, with and without leading zeros; merge them")
    top = max(index.values())
    if sorted(index.values()) == list(range(1, top + 1)) and top > 1:
        raise DatasetError(
            f"the classes are numbered from 1 to {top}, but those of a model from 0, and 1 may be the first or the "
            "second; give --class-map with these numbers in the order of the model's outputs"
        )
    return Classes(index, top + 1 if len(index) == top + 1 else None)


def _warnings(ordered: Sequence[str], present: Collection[str]) -> Iterator[str]:
    empty = [name for name in ordered if name not in present]
    if empty:
        yield f"class folders without images still count as classes: {list_some(empty)}"
    if ordered != sorted(ordered):
        yield (
            "the classes are in timm's order, which sorts numbers in names by value and ignores capitals; "
            "torchvision's ImageFolder sorts them as text, so a model trained with it needs --class-map"
        )


def read_class_map(path: Path) -> Classes:
    """Read a class map. Raises DatasetError saying what is wrong with the file."""
    try:
        text = read_text(path, _LARGEST).removeprefix(BOM).replace("\r\n", "\n")
    except FileError as error:
        raise DatasetError(f"{error}; {_MAP_FORMS}") from error
    if text.lstrip()[:1] in ("{", "["):
        raise DatasetError(f"{path} is JSON; {_MAP_FORMS}")
    lines = text.rstrip().split("\n")
    tabbed = all("\t" in line for line in lines)
    index: dict[str, int] = {}
    for number, line in enumerate(lines):
        name, _, place = line.rpartition("\t") if tabbed else (line, "", str(number))
        composed, here = readable_id(name.strip()), f"{path}:{number + 1}"  # as folders are named
        if not _NUMBER.fullmatch(place.strip()):
            raise DatasetError(f"{here}: {place.strip()[:40]!r} is not an index; {_MAP_FORMS}")
        if not composed or composed in index:
            what = f"{composed[:60]!r} is there twice" if composed else "there is no name"
            raise DatasetError(f"{here}: {what}; {_MAP_FORMS}")
        index[composed] = int(place)
    top = max(index.values()) + 1
    return Classes(index, top if len(set(index.values())) == top else None)
