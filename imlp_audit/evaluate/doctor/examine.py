"""Finds in seconds what is wrong with a validation folder of ImageNet-1k: names, order of classes, files."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.data.folder import Listing, chosen_folder, list_images
from imlp_audit.evaluate.data.imagenet import SHIPPED, imagenet_classes, read_real_labels, validation_number
from imlp_audit.evaluate.data.label_file import find_labels
from imlp_audit.evaluate.data.sources.parquet import list_tables
from imlp_audit.evaluate.doctor.files import look_into_files
from imlp_audit.evaluate.doctor.labelled import find_broken, find_label_problems, label_ids
from imlp_audit.evaluate.doctor.names import file_name, find_name_problems
from imlp_audit.evaluate.doctor.problems import FolderProblem, ProblemKind
from imlp_audit.numbers.words import count_of, list_some

_Placed: TypeAlias = Sequence[tuple[str, tuple[int, ...]]]  # each image's folder, and the classes that people accept

LABEL = "an image's label"
_USUAL = Fraction(3, 4)  # in the published set, people accept about nine in ten labels
_ENOUGH = 20  # images from which a share means something
_ORDER_UNKNOWN = "a single image in the folder of another class cannot be detected; only whole folders are compared"


@dataclass(frozen=True)
class Examination:
    """What was examined and what is wrong with it. `folder` is relative to the given folder."""

    folder: str
    images: int
    classes: int
    findings: tuple[FolderProblem, ...]
    notes: tuple[str, ...]


def examine(root: Path, *, decode_all: bool = False) -> Examination:
    """Examine a validation folder, or a folder that holds it. Raises DatasetError if it cannot be listed."""
    if root.is_file() and root.suffix.lower() in (".tar", ".parquet"):
        return _examine_labelled(root)
    if not root.is_dir():
        raise DatasetError(f"{root} is not a folder; give the folder of ImageNet's validation images")
    if not os.access(root, os.R_OK | os.X_OK):
        raise DatasetError(f"{root} cannot be listed; change its permissions")
    folder = chosen_folder(root, "validation")
    listing = list_images(folder)
    if not listing.ids and (list_tables(folder) or _has_shards(folder)):
        return _examine_labelled(root)
    if listing.ids and not any("/" in one for one in listing.ids) and (labels := find_labels(folder)) is not None:
        return _examine_labelled(root, labels)
    named = tuple(find_name_problems(listing))
    files = look_into_files(folder, listing, decode_all=decode_all)
    ordered = () if any(one.kind is ProblemKind.TRAIN for one in named) else tuple(find_order_problems(listing.ids))
    classes = len({one.partition("/")[0] for one in listing.ids if "/" in one})
    return Examination(
        folder.relative_to(root).as_posix(),
        len(listing.ids),
        classes,
        (*named, *ordered, *files.findings),
        (*files.notes, *_notes(listing)),
    )


def _has_shards(folder: Path) -> bool:
    from imlp_audit.evaluate.data.sources.tars import holds_samples, list_shards  # imports torch

    return any(map(holds_samples, map(folder.joinpath, list_shards(folder))))


def _examine_labelled(root: Path, file: Path | None = None) -> Examination:
    """Examine images that have their labels in a file, or with the images, rather than in the names of folders."""
    from imlp_audit.evaluate.data.open import Labelling, open_labelled  # imports torch, which class folders don't need

    images = open_labelled(str(root), "validation", Labelling(labels=file), allow_download=False)
    findings = (*find_label_problems(images), *find_order_problems(label_ids(images), LABEL), *find_broken(images))
    decided = f"what decides the class: {images.order}"
    classes = len({labels[0] for labels in images.labels})
    return Examination(".", len(images.ids), classes, findings, (decided, *images.notes))


def _notes(listing: Listing) -> Iterator[str]:
    for kind, count in listing.skipped.items():
        yield f"{count} skipped: {kind}"
    if listing.ids:
        yield _ORDER_UNKNOWN


def find_order_problems(ids: Sequence[str], noun: str = "the number of a class folder") -> Iterator[FolderProblem]:
    """Compare class folders, named or numbered, with ReaL labels, which are found by file names.

    `noun` says what the number of a class is here.
    """
    placed = [(one.partition("/")[0], number) for one in ids if (number := validation_number(file_name(one)))]
    accepted = read_real_labels(SHIPPED)
    judged = [(name, accepted[number - 1]) for name, number in placed if accepted[number - 1]]
    if len(judged) < _ENOUGH:
        return
    named = _by_name(judged)
    if len(named) >= _ENOUGH:
        yield from _find_shuffled(named)
    elif all(name.isdecimal() for name, _ in judged):
        yield from _find_renumbered(judged, noun)


def _by_name(judged: _Placed) -> list[tuple[str, bool]]:
    """Return each image in a folder with a WordNet id, and whether people accept that class for it."""
    published = {name: index for index, name in enumerate(imagenet_classes())}
    return [(name, published[name] in accepted) for name, accepted in judged if name in published]


def _find_shuffled(named: Sequence[tuple[str, bool]]) -> Iterator[FolderProblem]:
    right = sum(agrees for _, agrees in named)
    if Fraction(right, len(named)) < _USUAL:
        what = (
            f"only {right} of {count_of(len(named), 'image')} lie in the folder of a class that people accept (ReaL "
            "labels); in the published set nine in ten do"
        )
        yield FolderProblem(
            ProblemKind.CLASS_ORDER,
            what,
            "sort the images again: the list used for sorting has the classes in another order",
        )
        return
    held: dict[str, list[bool]] = defaultdict(list)
    for name, agrees in named:
        held[name].append(agrees)
    strange = tuple(name for name in sorted(held) if len(held[name]) >= _ENOUGH and not any(held[name]))
    if strange:
        what = (
            f"{count_of(len(strange), 'class folder')} without any image that people accept there: {list_some(strange)}"
        )
        yield FolderProblem(ProblemKind.CLASS_ORDER, what, "check whether these folders have swapped names", strange)


def _find_renumbered(judged: _Placed, noun: str) -> Iterator[FolderProblem]:
    """Find out what the numbers of classes mean."""
    lexicographic = {name: place for place, name in enumerate(sorted({name for name, _ in judged}))}
    meanings: Mapping[str, Mapping[str, int]] = {
        "the class": {name: int(name) for name in lexicographic},
        "the class plus 1": {name: int(name) - 1 for name in lexicographic},
        "the class's place among the numbers sorted as text": lexicographic,
    }
    shares = {meaning: sum(index[name] in accepted for name, accepted in judged) for meaning, index in meanings.items()}
    best = max(shares, key=lambda meaning: shares[meaning])
    agreeing = f"{shares[best]} of {count_of(len(judged), 'image')} are of a class that people accept (ReaL labels)"
    if Fraction(shares[best], len(judged)) < _USUAL:
        what = f"{noun} follows no known order of classes: at best {agreeing}"
        then = "sort the images again" if noun != LABEL else "get the labels again"
        yield FolderProblem(ProblemKind.CLASS_ORDER, what, then)
    elif best != "the class":
        what = f"{noun} is {best}: read this way, {agreeing}"
        then = "rename the folders accordingly" if noun != LABEL else "write the labels again, as the classes"
        yield FolderProblem(ProblemKind.CLASS_ORDER, what, then)
