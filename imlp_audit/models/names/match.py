"""Which names of a library a label of a paper's table may stand for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from enum import StrEnum
from functools import cache
from itertools import groupby, product

from imlp_audit.models.names.known import USUAL_SIZE, Library, current_models


class Confidence(StrEnum):
    """How well a label supports a name."""

    EXACT = "exact"  # the same after normalisation, and no other name of the library is
    CLOSE = "close"  # similar


MOST_CLOSE = 4
_SIMILAR = 0.6
_SIMILAR_FAMILY = 0.75
_SIZES = {"ti": "T", "t": "T", "s": "S", "b": "B", "l": "L", "h": "H", "m": "M"}
_SIZE_WORDS = {"tiny": "T", "small": "S", "base": "B", "large": "L", "huge": "H", "medium": "M"}
_SPELT = {letter: word for word, letter in _SIZE_WORDS.items()}
_PLAIN = re.compile(r"[A-Za-z0-9\s\-‐‑–_/.×]*")
_NAME = re.compile(r"(?P<head>.+?)(?:_(?:patch|p)(?P<patch>\d+))?(?:_window(?P<window>\d+))?(?:_(?P<size>\d{3}))?")


@dataclass(frozen=True)
class _Name:
    """A name of a library in its parts."""

    name: str
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
    rest = [name for name in _similar(label, library) if name not in exact]
    return [(name, Confidence.CLOSE) for name in [*exact, *rest][:MOST_CLOSE]]


def is_name(label: str, library: Library) -> bool:
    """Return whether a label is a name in other separators and cases, or stands for several names."""
    return bool(_PLAIN.fullmatch(label) and _exact(label, library, None))


def _exact(label: str, library: Library, size: int | None) -> list[str]:
    """Return the names that a label is; several are ambiguous."""
    found = {one.name: one for key in _keys(label) for one in _index(library).get(key, ())}
    whole = [name for name in found if _keys(name) & _keys(label)]
    if whole:
        return sorted(whole)
    for side in (size, USUAL_SIZE if size is None else None):
        fitting = sorted(name for name, one in found.items() if side is not None and one.size == side)
        if fitting:
            return fitting
    unsized = sorted(name for name, one in found.items() if one.size is None)
    return unsized or sorted(found)


@cache
def _index(library: Library) -> Mapping[str, tuple[_Name, ...]]:
    """Return the names by everything that a label for them may be normalised to."""
    pairs = [(key, one) for one in map(_parse, sorted(current_models(library))) for key in _labels(one)]
    grouped = groupby(sorted(pairs, key=lambda pair: (pair[0], pair[1].name)), key=lambda pair: pair[0])
    return {key: tuple(one for _, one in group) for key, group in grouped}


def _parse(name: str) -> _Name:
    found = _NAME.fullmatch(name)
    parts = found.groupdict() if found else {}
    size = parts.get("size")
    return _Name(name, parts.get("patch") or "", parts.get("window") or "", int(size) if size else None)


def _labels(one: _Name) -> set[str]:
    """Return the keys of a name, with and without the sizes at its end."""
    found = _NAME.fullmatch(one.name)
    head = found["head"] if found else one.name
    ends = product(("", one.patch), ("", one.window), ("", str(one.size or "")))
    texts = {"_".join(filter(None, (head, *end))) for end in ends}
    return {key for text in (one.name, *texts) for key in _keys(text)}


def _keys(text: str) -> frozenset[str]:
    """Return the normal forms of a text: words joined, digits kept apart, sizes as capital letters.

    A letter such as s is a size or itself, so there can be several forms.
    """
    words = [word for word in re.split(r"[^a-z0-9]+", text.lower()) if word]
    return frozenset(_join(forms) for forms in product(*map(_forms, words)))


def _forms(word: str) -> tuple[str, ...]:
    if word in _SIZE_WORDS:
        return (_SIZE_WORDS[word],)
    found = re.fullmatch(r"(ti|[tsblhm])(\d*)", word)
    return (word, _SIZES[found[1]] + found[2]) if found else (word,)


def _join(words: Iterable[str]) -> str:
    joined = ""
    for word in words:
        joined += "_" * (joined[-1:].isdigit() and word[:1].isdigit()) + word
    return joined


def _similar(label: str, library: Library) -> list[str]:
    """Return similar names of the label's family, which its first word is, the most similar first."""
    families = _families(library)
    words = re.findall("[a-z]+|[0-9]+", label.lower())
    near = get_close_matches(_family(label), families, n=1, cutoff=_SIMILAR_FAMILY)
    matcher = SequenceMatcher(b=" ".join(_SPELT.get(_SIZES.get(word, ""), word) for word in words))
    scored = list[tuple[float, str]]()
    for name, spaced in families[near[0]] if near else ():
        matcher.set_seq1(spaced)
        scored.append((-matcher.ratio(), name))
    return [name for score, name in sorted(scored)[:MOST_CLOSE] if -score >= _SIMILAR]


@cache
def _families(library: Library) -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Return the names by their families, each also with its words apart."""
    pairs = sorted((_family(name), name) for name in current_models(library))
    return {family: tuple(_spaced(names)) for family, names in groupby(pairs, key=lambda pair: pair[0])}


def _spaced(pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    return ((name, " ".join(re.findall("[a-z]+|[0-9]+", name))) for _, name in pairs)


def _family(text: str) -> str:
    found = re.search("[a-z]+", text.lower())
    return found[0] if found else ""
