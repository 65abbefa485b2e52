"""The class of each image: by the names of class folders, class maps and files of labels."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.imagenet import (
    VALIDATION_IMAGES,
    imagenet_classes,
    imagenet_names,
    read_text,
    validation_number,
)
from imlp_audit.evaluate.images import in_order, readable_id
from imlp_audit.numbers.words import count_of, list_some

_LARGE = 2**29  # of a list of all training images
_MAP_FORMS = "a class map is one name per line in the order of the model's outputs, or lines `name<TAB>index`"
_LABEL_FORMS = (
    "labels are lines `IMAGE CLASS` (spaces, tabs or commas), LOC_val_solution.csv, 50 000 lines with the "
    "WordNet ids of ImageNet's validation images, or `real` or real.json for the ReaL labels"
)
_HEADERS = ("imageid", "image_id", "image", "filename", "file_name", "file", "name", "id", "path")
_LABEL_HEADERS = ("label", "labels", "class", "class_id", "class_name", "category", "category_id", "target")
_WORDNET_ID = re.compile(r"n[0-9]{8}\b")
_NUMBER = re.compile("[0-9]{1,9}")
_NEGATIVE = re.compile(r"[-\u2212][0-9]+(\.[0-9]*)?")


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
            f"{source}: {list_some(loose)} {_verb(loose, 'is', 'are')} not in a class folder, so the class is unknown; "
            "give --labels FILE, or move images to DIR/CLASS/IMAGE"
        )
    deep = [one for one in ids if one.count("/") > 1]
    if deep:
        raise DatasetError(
            f"{source}: {list_some(deep)} {_verb(deep, 'lies', 'lie')} deeper than DIR/CLASS/IMAGE, where timm and "
            "torchvision read different classes; give the folder whose subfolders are the classes, or its name as "
            "--split"
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
    """Assign classes to ids of class folders."""
    if given is not None:
        return _by_map(present, given)
    published = {name: index for index, name in enumerate(imagenet_classes())}
    known = [name for name in present if name in published]
    if 2 * len(known) > len(present):
        return _by_wordnet_id(present, known, published)
    negative = sorted(filter(_NEGATIVE.fullmatch, {*present, *folders}))
    if negative:
        raise DatasetError(
            f"the {_verb(negative, 'class', 'classes')} {list_some(negative)} would shift all others, because classes "
            "are numbered from 0; remove the images that have no class, or give --class-map"
        )
    if all(map(_NUMBER.fullmatch, present)):
        return _by_number({*present, *filter(_NUMBER.fullmatch, folders)})
    return _by_order({*present, *folders}, present)


def order_of_names(names: Sequence[str]) -> tuple[tuple[int, ...], str]:
    """Return the class of each of a data set's named classes, and what decides it.

    The names of ImageNet-1k's 1000 classes, or their WordNet ids, decide, wherever they stand in the list; the place in
    the list decides otherwise. Raises DatasetError if names are ImageNet's and do not give each class once.
    """
    places = tuple(range(len(names)))
    if len(names) != len(imagenet_classes()):
        return places, "the order in which the data set names its classes"
    published = imagenet_names()
    found = [published.get(name.lower(), frozenset()) for name in names]
    if 2 * sum(map(bool, found)) <= len(names):
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
            f"the class map has no entry for {list_some(missing)}; add a line for {_verb(missing, 'it', 'each')}, or "
            f"remove the {_verb(missing, 'folder', 'folders')}"
        )
    return replace(given, index={name: given.index[name] for name in present})


def _by_wordnet_id(present: Collection[str], known: Sequence[str], published: Mapping[str, int]) -> Classes:
    strange = sorted(set(present) - set(known))
    if strange:
        raise DatasetError(
            f"{len(known)} class folders are classes of ImageNet-1k, but {list_some(strange)} "
            f"{_verb(strange, 'is', 'are')} not, and would shift all classes that follow; rename or remove "
            f"{_verb(strange, 'it', 'them')}, or give --class-map"
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


def _by_order(names: Collection[str], present: Collection[str]) -> Classes:
    ordered = list(in_order(names))
    index = {name: place for place, name in enumerate(ordered)}
    return Classes(index, len(ordered), tuple(_warnings(ordered, present)))


def _warnings(ordered: Sequence[str], present: Collection[str]) -> Iterator[str]:
    empty = [name for name in ordered if name not in present]
    if empty:
        yield f"class folders without images still count as classes: {list_some(empty)}"
    numbers = [name for name in ordered if _NUMBER.fullmatch(name)]
    if numbers:
        yield (
            f"some labels are numbers ({list_some(numbers)}) and some are names, so all are taken for names, in timm's "
            "order; --class-map gives another"
        )
    if ordered != sorted(ordered):
        yield (
            "the classes are in timm's order, which sorts numbers in names by value and ignores capitals; "
            "torchvision's ImageFolder sorts them as text, so a model trained with it needs --class-map"
        )


def _verb(names: Sequence[str], one: str, many: str) -> str:
    """Choose a word that agrees with the number of names."""
    return one if len(names) == 1 else many


def read_class_map(path: Path) -> Classes:
    """Read a class map. Raises DatasetError saying what is wrong with the file."""
    if path.suffix.lower() in (".pkl", ".pickle"):
        raise DatasetError(f"{path} is a pickle, which could run code; {_MAP_FORMS}")
    text = read_text(path, _MAP_FORMS)
    if text.lstrip()[:1] in ("{", "["):
        raise DatasetError(f"{path} is JSON; {_MAP_FORMS}")
    lines = text.rstrip().split("\n")
    tabbed = all("\t" in line for line in lines)
    index: dict[str, int] = {}
    for number, line in enumerate(lines):
        name, _, place = line.rpartition("\t") if tabbed else (line, "", str(number))
        composed, here = readable_id(name.strip()), f"{path}:{number + 1}"  # as folders are named
        if not re.fullmatch("[0-9]{1,9}", place.strip()):
            raise DatasetError(f"{here}: {place.strip()[:40]!r} is not an index; {_MAP_FORMS}")
        if not composed or composed in index:
            what = f"{composed[:60]!r} is there twice" if composed else "there is no name"
            raise DatasetError(f"{here}: {what}; {_MAP_FORMS}")
        index[composed] = int(place)
    top = max(index.values()) + 1
    return Classes(index, top if len(set(index.values())) == top else None)


@dataclass(frozen=True)
class ImageLabels:
    """The label of each image, as text, by the name that the file gives it; `ends` are names by their last part."""

    by_name: Mapping[str, str]
    ends: Mapping[str, Sequence[str]]

    @property
    def known(self) -> frozenset[str]:
        """All labels of the file."""
        return frozenset(self.by_name.values())

    def of(self, ids: Sequence[str], source: str) -> tuple[str, ...]:
        """Return the label of each image. Raises DatasetError if one has none, or shares it with another image."""
        found = {one: self._find(one) for one in ids}
        missing = [one for one, name in found.items() if name is None]
        if missing:
            raise DatasetError(
                f"{source} has no label for {count_of(len(missing), 'image')}: {list_some(missing)}; remove the images "
                "or add a line for each"
            )
        names = [name for name in found.values() if name is not None]
        shared = next((name for name, times in Counter(names).items() if times > 1), None)
        if shared is not None:
            alike = [one for one, name in found.items() if name == shared]
            raise DatasetError(f"{source} has one label, {shared}, for {list_some(alike)}; remove all but one of them")
        return tuple(self.by_name[name] for name in names)

    def _find(self, one: str) -> str | None:
        """Return the name that the file gives an image: one of those that end as its path does, or reversed."""
        for spelled in _names_of(one):
            if spelled in self.by_name:
                return spelled
            fitting = [name for name in self.ends.get(spelled.rpartition("/")[2], ()) if _may_be(name, spelled)]
            if len(fitting) == 1:
                return fitting[0]
        return None


def read_labels(path: Path) -> ImageLabels:
    """Read a file of labels. Raises DatasetError."""
    text = read_text(path, _LABEL_FORMS, _LARGE)
    try:
        return _index(list(_from_lines(text)))
    except (ValueError, KeyError, TypeError, IndexError, csv.Error) as error:
        raise DatasetError(f"{path} cannot be read as labels: {str(error)[:200]}; {_LABEL_FORMS}") from error


def _index(pairs: Sequence[tuple[str, str]]) -> ImageLabels:
    by_name: dict[str, str] = {}
    for name, label in pairs:
        spelled = readable_id(name.removeprefix("./"))
        if by_name.setdefault(spelled, label) != label:
            raise ValueError(f"{name!r:.60} has two labels, {by_name[spelled]!r:.40} and {label!r:.40}")
    ends: dict[str, list[str]] = {}
    for name in by_name:
        ends.setdefault(name.rpartition("/")[2], []).append(name)
    return ImageLabels(by_name, ends)


def _names_of(one: str) -> Iterator[str]:
    """Yield what a file may call an image: its path, that without its ending, and its published name."""
    path = PurePosixPath(one)
    yield from (one, path.with_suffix("").as_posix())
    number = validation_number(path.name)
    if number is not None:
        yield from (path.name, f"ILSVRC2012_val_{number:08d}")


def _may_be(name: str, spelled: str) -> bool:
    """Say whether two paths may be those of one file, seen from different folders: one is the end of the other."""
    return f"/{name}".endswith(f"/{spelled}") or f"/{spelled}".endswith(f"/{name}")


def _from_lines(text: str) -> Iterator[tuple[str, str]]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise ValueError("the file is empty")
    if not any(re.search(r"[\s,]", line) for line in lines):
        yield from _in_order(lines)
        return
    for number, row in enumerate(_split(lines), 1):
        if len(row) > 2:
            raise ValueError(f"line {number} has {len(row)} columns; keep two, the image and its label")
        name, label = (one.strip() for one in (*row, "", "")[:2])
        if not name or not label:
            raise ValueError(f"line {number} has no label")
        if number == 1 and (name.lower() in _HEADERS or label.lower() in _LABEL_HEADERS):
            continue
        yield name, label.split()[0] if _WORDNET_ID.match(label) else label


def _split(lines: Sequence[str]) -> Iterable[Sequence[str]]:
    """Return the columns of each line: between tabs or commas, or else before and after the last space."""
    for delimiter in ("\t", ","):
        if delimiter in lines[0]:
            return csv.reader(lines, delimiter=delimiter)
    return (line.rsplit(maxsplit=1) for line in lines)


def _in_order(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Label ImageNet's validation images by their numbers, from WordNet ids."""
    if len(lines) != VALIDATION_IMAGES:
        raise ValueError(f"{len(lines)} lines without names; ImageNet's ground truth has {VALIDATION_IMAGES}")
    if not all(_WORDNET_ID.fullmatch(line) for line in lines):
        raise ValueError(
            "its numbers are ids of the devkit, which are not the classes in order; unpack the images with "
            "torchvision.datasets.ImageNet, or write their WordNet ids"
        )
    yield from ((f"ILSVRC2012_val_{number:08d}", label) for number, label in enumerate(lines, 1))
