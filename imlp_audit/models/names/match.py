"""Which names of a library a label of a paper's table may stand for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import groupby, product

from imlp_audit.models.names.known import USUAL_SIZE, Library, current_models, size_in_name
from imlp_audit.models.names.similar import families_of, similar_names
from imlp_audit.models.names.words import LONG_SIZE, SHORT_SIZE, SIZE_WORDS, SIZES, family_of


class Confidence(StrEnum):
    """How well a label supports a name."""

    EXACT = "exact"  # the same after normalisation, and no other name of the library is
    CLOSE = "close"  # of the label's family, with all its words and numbers
    NEAR = "near"  # of the label's family, versions and size, with most of its words and numbers


MOST_CLOSE = 4
_PLAIN = re.compile(r"[A-Za-z0-9\s\-‐‑–_/.×]*")
_NAME = re.compile(r"(?P<head>.+?)(?:_(?:patch|p)(?P<patch>\d+))?(?:_window(?P<window>\d+))?")


@dataclass(frozen=True)
class _Name:
    """A name of a library in its parts."""

    name: str
    head: str
    patch: str
    window: str
    size: int | None


def close_models(label: str, library: Library, size: int | None = None) -> list[tuple[str, Confidence]]:
    """Return the names that a label may stand for, the best first; `size` is the side of the images that a table gives.

    A name is exact if it is the label in other separators and cases, with T, S, B, ... for the words of sizes. A name's
    sizes of patches, windows and images may be left out in the label if that leaves one name for images of this size.
    """
    exact = _exact(label, library, size) if _PLAIN.fullmatch(label) else []
    if len(exact) == 1:
        return [(exact[0], Confidence.EXACT)]
    similar = similar_names(label, library, size or USUAL_SIZE)[:MOST_CLOSE]
    rest = [(name, Confidence.CLOSE if whole else Confidence.NEAR) for name, whole in similar if name not in exact]
    return [*((name, Confidence.CLOSE) for name in exact), *rest][:MOST_CLOSE]


_MOST_LETTERS = 6  # no name has more than two words that may be sizes


def is_name(label: str, library: Library) -> bool:
    """Return whether a label is a name in other separators and cases, or stands for several names."""
    return bool(_PLAIN.fullmatch(label) and _exact(label, library, None))


def _exact(label: str, library: Library, size: int | None) -> list[str]:
    """Return the names that a label is; several are ambiguous."""
    found = _found(label, library)
    whole = _whole(label, found)
    if whole:
        return whole
    for side in (size, USUAL_SIZE if size is None else None):
        fitting = sorted(name for name, one in found.items() if side is not None and one.size == side)
        if fitting:
            return fitting
    unsized = sorted(name for name, one in found.items() if one.size is None)
    return unsized or sorted(found)


def names_of_all_sizes(label: str, library: Library) -> list[str]:
    """Return the names that a label is, whatever their sizes of images; only itself for a whole name."""
    if not _PLAIN.fullmatch(label):
        return []
    found = _found(label, library)
    return _whole(label, found) or sorted(found)


def names_of_all_windows(name: str, library: Library) -> list[str]:
    """Return the names that differ from a name at most in their windows and their sizes of images, itself included."""
    one = _parse(library, name)
    found = (_parse(library, other) for other, _ in families_of(library).get(family_of(name), ()))
    return [other.name for other in found if (other.head, other.patch) == (one.head, one.patch)]


def variants_of(name: str, library: Library) -> list[str]:
    """Return the names that have one word more than a name, such as deit_tiny_distilled_patch16_224."""
    words = Counter(name.split("_"))
    family = families_of(library).get(family_of(name), ())
    more = ((one, Counter(one.split("_")) - words) for one, _ in family if not words - Counter(one.split("_")))
    return [one for one, added in more if added.total() == 1 and not any(map(str.isdigit, "".join(added)))]


def _found(label: str, library: Library) -> Mapping[str, _Name]:
    return {one.name: one for key in _keys(label) for one in _index(library).get(key, ())}


def _whole(label: str, found: Iterable[str]) -> list[str]:
    """Return the names of which a label leaves out nothing."""
    return sorted(name for name in found if _keys(name) & _keys(label))


@cache
def _index(library: Library) -> Mapping[str, tuple[_Name, ...]]:
    """Return the names by everything that a label for them may be normalised to."""
    names = (_parse(library, name) for name in sorted(current_models(library)))
    pairs = [(key, one) for one in names for key in _labels(one)]
    grouped = groupby(sorted(pairs, key=lambda pair: (pair[0], pair[1].name)), key=lambda pair: pair[0])
    return {key: tuple(one for _, one in group) for key, group in grouped}


def _parse(library: Library, name: str) -> _Name:
    size = size_in_name(library, name)
    found = _NAME.fullmatch(name.removesuffix(f"_{size}"))
    if found is None:
        return _Name(name, name, "", "", size)
    return _Name(name, found["head"], found["patch"] or "", found["window"] or "", size)


def _labels(one: _Name) -> set[str]:
    """Return the keys of a name, with and without the sizes at its end."""
    ends = product(("", one.patch), ("", one.window), ("", str(one.size or "")))
    texts = {"_".join(filter(None, (one.head, *end))) for end in ends}
    return {key for text in (one.name, *texts) for key in _keys(text)}


def _keys(text: str) -> frozenset[str]:
    """Return the normal forms of a text: words joined, digits kept apart, sizes as capital letters.

    A letter such as s is a size or itself, so there can be several forms; text with many of them is no model's name.
    """
    words = [word for word in re.split(r"[^a-z0-9]+", text.lower()) if word]
    forms = [_forms(word) for word in words]
    if sum(len(one) > 1 for one in forms) > _MOST_LETTERS:
        return frozenset()
    return frozenset(map(_join, product(*forms)))


def _forms(word: str) -> tuple[str, ...]:
    long, short = LONG_SIZE.fullmatch(word), SHORT_SIZE.fullmatch(word)
    if long is not None:
        return (long[1] + SIZE_WORDS[long[2]],)
    return (word, short[1] + SIZES[short[2]] + short[3]) if short is not None else (word,)


def _join(words: Iterable[str]) -> str:
    joined = ""
    for word in words:
        joined += "_" * (joined[-1:].isdigit() and word[:1].isdigit()) + word
    return joined
