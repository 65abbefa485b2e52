"""Whether the images of a validation folder lie in the folders of their classes, as far as that can be known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from imlp_audit.evaluate.findings import Finding, Kind, counted, some
from imlp_audit.evaluate.imagenet_names import file_name
from imlp_audit.evaluate.published import imagenet_classes, validation_number
from imlp_audit.evaluate.real import SHIPPED, read_real_labels

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
