"""Files that give the class of each image: the devkit's ground truth, Kaggle's solution, lists, iNaturalist's JSON."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.data.class_map import LARGE, ClassMap, read_text
from imlp_audit.evaluate.data.folder import readable_id
from imlp_audit.evaluate.data.imagenet import VALIDATION_IMAGES, imagenet_classes, validation_number
from imlp_audit.files import read_bytes
from imlp_audit.numbers.words import count_of, list_some

_FORMS = (
    "labels are lines `IMAGE CLASS` (spaces, tabs or commas), ILSVRC2012_validation_ground_truth.txt with meta.mat "
    "beside it, LOC_val_solution.csv, or iNaturalist's JSON"
)
_SYNSETS = ("meta.mat", "meta_clsloc.mat", "map_clsloc.txt", "synsets.txt")
_USUAL = ("LOC_val_solution.csv", "ILSVRC2012_validation_ground_truth.txt", "val_map.txt", "val.txt")
_PLACES = (".", "..", "data", "../data", "../ILSVRC2012_devkit_t12/data", "ILSVRC2012_devkit_t12/data")
_HEADERS = ("imageid", "image_id", "image", "filename", "file_name", "file", "name", "id", "path")
_LABEL_HEADERS = ("label", "labels", "class", "class_id", "class_name", "category", "category_id", "target")
_BY_ID = (
    "each category is the class of its id; for a model that DeiT's code trained give iNaturalist's train JSON as "
    "--class-map, because that code numbers categories as they first appear there"
)
_LARGEST_META = 2**24  # bytes; the published one has one million
_WORDNET_ID = re.compile(r"n[0-9]{8}\b")


@dataclass(frozen=True)
class ImageLabels:
    """The label of each image, as text, by the name that the file gives it; `ends` are names by their last part."""

    by_name: Mapping[str, str]
    ends: Mapping[str, Sequence[str]]
    notes: tuple[str, ...] = ()

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


def read_labels(path: Path, given: ClassMap | None) -> ImageLabels:
    """Read a file of labels. `given` decides whether categories go by name or by number. Raises DatasetError."""
    text = read_text(path, _FORMS, LARGE)
    try:
        if text.lstrip()[:1] != "{":
            return _index(list(_from_lines(text, path)))
        return _index(list(_from_json(text, given)), (_BY_ID,) if given is None else ())
    except (ValueError, KeyError, TypeError, IndexError, RecursionError, csv.Error) as error:
        raise DatasetError(f"{path} cannot be read as labels: {str(error)[:200]}; {_FORMS}") from error


def find_labels(folder: Path) -> Path | None:
    """Return a file of ImageNet's labels that lies in or beside a folder of images."""
    found = (folder / place / name for place in _PLACES for name in _USUAL)
    return next((path for path in found if path.is_file()), None)


def _index(pairs: Sequence[tuple[str, str]], notes: tuple[str, ...] = ()) -> ImageLabels:
    by_name: dict[str, str] = {}
    for name, label in pairs:
        spelled = readable_id(name.removeprefix("./"))
        if by_name.setdefault(spelled, label) != label:
            raise ValueError(f"{name!r:.60} has two labels, {by_name[spelled]!r:.40} and {label!r:.40}")
    ends: dict[str, list[str]] = {}
    for name in by_name:
        ends.setdefault(name.rpartition("/")[2], []).append(name)
    return ImageLabels(by_name, ends, notes)


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


def _from_lines(text: str, path: Path) -> Iterator[tuple[str, str]]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise ValueError("the file is empty")
    if not any(re.search(r"[\s,]", line) for line in lines):
        yield from _in_order(lines, path)
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


def _in_order(lines: Sequence[str], path: Path) -> Iterator[tuple[str, str]]:
    """Label ImageNet's validation images by their numbers, from the devkit's ids or from WordNet ids."""
    if len(lines) != VALIDATION_IMAGES:
        raise ValueError(f"{len(lines)} lines without names; ImageNet's ground truth has {VALIDATION_IMAGES}")
    if all(_WORDNET_ID.fullmatch(line) for line in lines):
        labels = lines
    else:
        synsets = _read_synsets(path)
        labels = [synsets[int(line)] for line in lines]
    yield from ((f"ILSVRC2012_val_{number:08d}", label) for number, label in enumerate(labels, 1))


def _read_synsets(path: Path) -> Mapping[int, str]:
    """Return the WordNet id of each id of the devkit, which is in another order than the classes."""
    found = next((path.with_name(name) for name in _SYNSETS if path.with_name(name).is_file()), None)
    if found is None:
        raise ValueError(
            "its numbers are ids of the devkit, which are not the classes in order; put the devkit's meta.mat beside it"
        )
    synsets = _from_meta(found) if found.suffix == ".mat" else _from_list(found)
    if sorted(synsets) != list(range(1, 1001)) or sorted(synsets.values()) != list(imagenet_classes()):
        raise ValueError(f"{found} does not give each of the ids 1 to 1000 a class of ImageNet-1k")
    return synsets


def _from_meta(path: Path) -> Mapping[int, str]:
    from scipy.io import loadmat

    data = read_bytes(path, _LARGEST_META)
    try:
        synsets = loadmat(BytesIO(data), squeeze_me=True, variable_names=["synsets"])["synsets"]
        return {int(one["ILSVRC2012_ID"]): str(one["WNID"]) for one in synsets if int(one["num_children"]) == 0}
    except Exception as error:  # a broken .mat file fails in every possible way
        raise ValueError(f"{path} is not the devkit's meta.mat: {str(error)[:100]}") from error


def _from_list(path: Path) -> Mapping[int, str]:
    """Read `WNID ID NAME` a line, or only a WordNet id a line in the order of the ids."""
    lines = [line.split() for line in read_text(path, "the devkit's ids").splitlines() if line.strip()]
    return {int(line[1]) if len(line) > 1 else number: line[0] for number, line in enumerate(lines, 1)}


def _from_json(text: str, given: ClassMap | None) -> Iterator[tuple[str, str]]:
    """Read COCO's form, which iNaturalist's is: images, annotations, and categories with an id and a name."""
    held = json.loads(text)
    label = {one["id"]: str(one["id"]) for one in held["categories"]}
    named = {one["id"]: str(one["name"]) for one in held["categories"] if "name" in one}
    if given is not None and not given.index.keys() & set(label.values()):
        label = named
    categories: dict[object, object] = {}
    for one in held["annotations"]:
        if categories.setdefault(one["image_id"], one["category_id"]) != one["category_id"]:
            raise ValueError(f"image {one['image_id']!r:.40} has several categories")
    for image in held["images"]:
        yield str(image["file_name"]), label[categories[image["id"]]]
