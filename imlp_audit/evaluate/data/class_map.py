"""Class maps: files that give the class of each name."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from imlp_audit import files
from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.data.folder import readable_id

_LARGEST = 2**24  # bytes: a hundred thousand names take three million
LARGE = 2**29  # of a list of all training images
_TOP = 2**31  # no model has so many outputs
_FORMS = (
    "one name per line in the order of the model's outputs, lines `name<TAB>index`, or JSON (a list of names, or an "
    "object of name: index), or iNaturalist's train JSON, whose order of first appearance is the classes' (DeiT's code)"
)


@dataclass(frozen=True)
class ClassMap:
    """The class of each name, from 0. `count` is the number of classes; None if an index has no name."""

    index: Mapping[str, int]
    count: int | None


def read_class_map(path: Path) -> ClassMap:
    """Read a class map. Raises DatasetError saying what is wrong with the file."""
    if path.suffix.lower() in (".pkl", ".pickle"):
        raise DatasetError(f"{path} is a pickle, which could run code; a class map is {_FORMS}")
    text = read_text(path, f"a class map is {_FORMS}", LARGE if path.suffix == ".json" else _LARGEST)
    try:
        return _from_json(text) if text.lstrip()[:1] in ("{", "[") else _from_lines(text)
    except DatasetError as error:
        raise DatasetError(f"{path}: {error}; a class map is {_FORMS}") from error


def read_text(path: Path, wanted: str, largest: int = _LARGEST) -> str:
    """Read a user's text file of limited size; `wanted` says what it should hold. Raises DatasetError."""
    try:
        return files.read_text(path, largest).removeprefix(files.BOM).replace("\r\n", "\n")
    except files.FileError as error:
        raise DatasetError(f"{error}; {wanted}") from error


def _from_lines(text: str) -> ClassMap:
    if not text.strip():
        raise DatasetError("the file is empty")
    lines = text.rstrip().split("\n")
    if all("\t" in line for line in lines):
        return _from_pairs([_split(line, number) for number, line in enumerate(lines, 1)])
    return _from_names([line.strip() for line in lines])


def _split(line: str, number: int) -> tuple[str, object]:
    name, _, index = line.rpartition("\t")
    if not re.fullmatch("[0-9]{1,9}", index.strip()):
        raise DatasetError(f"line {number} has {index.strip()[:40]!r} after the tab, which is not an index")
    return name.strip(), int(index)


def _from_json(text: str) -> ClassMap:
    try:
        held = json.loads(text, object_pairs_hook=tuple)
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"this is not valid JSON: {str(error)[:200]}") from error
    if isinstance(held, list):
        return _from_names(held)
    annotations = dict(held).get("annotations")
    return _from_pairs(list(held)) if annotations is None else _from_annotations(annotations)


def _from_annotations(annotations: Sequence[Sequence[tuple[str, object]]]) -> ClassMap:
    """Number categories in the order in which annotations first name them, as DeiT's code does for iNaturalist."""
    try:
        seen = dict.fromkeys(str(dict(one)["category_id"]) for one in annotations)
    except (KeyError, TypeError, ValueError) as error:
        raise DatasetError("an annotation has no category_id") from error
    return _from_names(list(seen))


def _from_names(names: Sequence[object]) -> ClassMap:
    return _from_pairs([(name, place) for place, name in enumerate(names)])


def _from_pairs(pairs: Sequence[tuple[object, object]]) -> ClassMap:
    index: dict[str, int] = {}
    for place, (name, number) in enumerate(pairs, 1):
        if not isinstance(name, str) or not name:
            raise DatasetError(f"entry {place} has {name!r:.40} for a name")
        if type(number) is not int or not 0 <= number < _TOP:  # isinstance takes a bool for an int
            raise DatasetError(f"{name!r:.60} has {number!r:.40} for an index, which must be an integer from 0")
        composed = readable_id(name)  # as folders are named
        if composed in index:
            raise DatasetError(f"{name!r:.60} appears twice")
        index[composed] = number
    if not index:
        raise DatasetError("the file is empty")
    top = max(index.values()) + 1
    return ClassMap(index, top if len(set(index.values())) == top else None)
