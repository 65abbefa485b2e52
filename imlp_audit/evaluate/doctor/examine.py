"""What is wrong with a validation folder of ImageNet-1k, in seconds."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

from imlp_audit.errors import DatasetError
from imlp_audit.evaluate.data.folder import Listing, chosen_folder, listed
from imlp_audit.evaluate.data.imagenet import SHIPPED, imagenet_classes, read_real_labels, validation_number
from imlp_audit.evaluate.doctor.files import look
from imlp_audit.evaluate.doctor.findings import Finding, Kind, counted, some
from imlp_audit.evaluate.doctor.names import file_name, from_names

_ORDER_UNKNOWN = "of an image that lies in the folder of another class nothing tells; only whole folders are compared"


@dataclass(frozen=True)
class Examination:
    """What was examined, and what is wrong with it. `folder` is relative to what was given."""

    folder: str
    images: int
    classes: int
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]


def examine(root: Path, *, decode_all: bool = False) -> Examination:
    """Examine a validation folder, or one that holds it. Raises DatasetError where it cannot be listed."""
    if not root.is_dir():
        raise DatasetError(f"{root} is no folder; give that of ImageNet's validation images")
    if not os.access(root, os.R_OK | os.X_OK):
        raise DatasetError(f"{root} cannot be listed; its permissions forbid it")
    folder = chosen_folder(root, "validation")
    listing = listed(folder)
    named = tuple(from_names(listing))
    looked = look(folder, listing, decode_all=decode_all)
    ordered = () if any(one.kind is Kind.TRAIN for one in named) else tuple(from_order(listing.ids))
    classes = len({one.partition("/")[0] for one in listing.ids if "/" in one})
    return Examination(
        folder.relative_to(root).as_posix(),
        len(listing.ids),
        classes,
        (*named, *ordered, *looked.findings),
        (*looked.notes, *_notes(listing)),
    )


def _notes(listing: Listing) -> Iterator[str]:
    for kind, count in listing.skipped.items():
        yield f"{count} skipped: {kind}"
    if listing.ids:
        yield _ORDER_UNKNOWN


_Judged: TypeAlias = Sequence[tuple[str, tuple[int, ...]]]  # class folders, and the classes that people accept

_USUAL = Fraction(3, 4)  # in the published set about nine in ten labels are among those that people accept
_ENOUGH = 20  # images from which a share says something


def from_order(ids: Sequence[str]) -> Iterator[Finding]:
    """Hold class folders against ReaL labels, which go by the images' names, for folders that are named or numbered."""
    placed = [(one.partition("/")[0], number) for one in ids if (number := validation_number(file_name(one)))]
    accepted = read_real_labels(SHIPPED)
    judged = [(name, accepted[number - 1]) for name, number in placed if accepted[number - 1]]
    if len(judged) < _ENOUGH:
        return
    named = _by_name(judged)
    if len(named) >= _ENOUGH:
        yield from _shuffled(named)
    elif all(name.isdecimal() for name, _ in judged):
        yield from _renumbered(judged)


def _by_name(judged: _Judged) -> list[tuple[str, bool]]:
    """Say of each image in a folder with a WordNet id whether people accept that class."""
    published = {name: index for index, name in enumerate(imagenet_classes())}
    return [(name, published[name] in accepted) for name, accepted in judged if name in published]


def _shuffled(named: Sequence[tuple[str, bool]]) -> Iterator[Finding]:
    right = sum(agrees for _, agrees in named)
    if Fraction(right, len(named)) < _USUAL:
        what = (
            f"of {counted(len(named), 'image')} only {right} lie in a folder of a class that people accept (ReaL "
            "labels); nine in ten do in the published set"
        )
        yield Finding(
            Kind.CLASS_ORDER, what, "sort them anew: the list they were sorted by has its classes in another order"
        )
        return
    held: dict[str, list[bool]] = defaultdict(list)
    for name, agrees in named:
        held[name].append(agrees)
    strange = tuple(name for name in sorted(held) if len(held[name]) >= _ENOUGH and not any(held[name]))
    if strange:
        what = f"{counted(len(strange), 'class folder')} without an image that people accept there: {some(strange)}"
        yield Finding(Kind.CLASS_ORDER, what, "see whether they changed names with others", strange)


def _renumbered(judged: _Judged) -> Iterator[Finding]:
    """Find what the numbers of class folders mean."""
    lexicographic = {name: place for place, name in enumerate(sorted({name for name, _ in judged}))}
    meanings: Mapping[str, Mapping[str, int]] = {
        "the class": {name: int(name) for name in lexicographic},
        "the class plus 1": {name: int(name) - 1 for name in lexicographic},
        "the class's place among the numbers sorted as text": lexicographic,
    }
    shares = {meaning: sum(index[name] in accepted for name, accepted in judged) for meaning, index in meanings.items()}
    best = max(shares, key=lambda meaning: shares[meaning])
    told = f"{shares[best]} of {counted(len(judged), 'image')} are of a class that people accept (ReaL labels)"
    if Fraction(shares[best], len(judged)) < _USUAL:
        what = f"the numbers of class folders are no order of classes known here: at best {told}"
        yield Finding(Kind.CLASS_ORDER, what, "sort the images anew")
    elif best != "the class":
        what = f"the number of a class folder is {best}: taken so, {told}"
        yield Finding(Kind.CLASS_ORDER, what, "rename the folders by it")
