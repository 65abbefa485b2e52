"""Which names of a library a label of a paper's table may stand for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from enum import StrEnum
from functools import cache
from itertools import groupby, product

from imlp_audit.models.names.known import USUAL_SIZE, Library, current_models, size_in_name


class Confidence(StrEnum):
    """How well a label supports a name."""

    EXACT = "exact"  # the same after normalisation, and no other name of the library is
    CLOSE = "close"  # of the label's family, with all its words and numbers
    NEAR = "near"  # of the label's family, with most of its words and numbers


MOST_CLOSE = 4
_SIMILAR_FAMILY = 0.78  # a letter more or less of five: "bert" is not "beit"
_SIZES = {"ti": "T", "t": "T", "s": "S", "b": "B", "l": "L", "h": "H", "m": "M",
          "a": "A", "f": "F", "p": "P", "n": "N"}  # fmt: skip
_SIZE_WORDS = {"tiny": "T", "small": "S", "base": "B", "large": "L", "huge": "H", "medium": "M",
               "atto": "A", "femto": "F", "pico": "P", "nano": "N"}  # fmt: skip
_SHORT_SIZE = re.compile(rf"(x{{0,2}})({'|'.join(_SIZES)})(\d*)")  # xs is x-small, xl is x-large
_LONG_SIZE = re.compile(rf"(x{{0,2}})({'|'.join(_SIZE_WORDS)})")
_COMMON = frozenset({"test", "tiny", "wide", "res", "legacy", "lambda", "halo", "bat", "nest", "inception"})
_ANY_NAME = frozenset({"patch", "p", "window", "w"})  # words that say nothing without their number
_SPELT = {letter: word for word, letter in _SIZE_WORDS.items()}
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
    rest = [pair for pair in _similar(label, library, size or USUAL_SIZE) if pair[0] not in exact]
    return [*((name, Confidence.CLOSE) for name in exact), *rest][:MOST_CLOSE]


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
    found = (_parse(library, other) for other, _ in _families(library).get(family_of(name), ()))
    return [other.name for other in found if (other.head, other.patch) == (one.head, one.patch)]


def variants_of(name: str, library: Library) -> list[str]:
    """Return the names that have one word more than a name, such as deit_tiny_distilled_patch16_224."""
    words = Counter(name.split("_"))
    family = _families(library).get(family_of(name), ())
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

    A letter such as s is a size or itself, so there can be several forms.
    """
    words = [word for word in re.split(r"[^a-z0-9]+", text.lower()) if word]
    return frozenset(_join(forms) for forms in product(*map(_forms, words)))


def _forms(word: str) -> tuple[str, ...]:
    long, short = _LONG_SIZE.fullmatch(word), _SHORT_SIZE.fullmatch(word)
    if long is not None:
        return (long[1] + _SIZE_WORDS[long[2]],)
    return (word, short[1] + _SIZES[short[2]] + short[3]) if short is not None else (word,)


def _join(words: Iterable[str]) -> str:
    joined = ""
    for word in words:
        joined += "_" * (joined[-1:].isdigit() and word[:1].isdigit()) + word
    return joined


def _similar(label: str, library: Library, size: int) -> list[tuple[str, Confidence]]:
    """Return names of the label's family, which its first word is, with half of its words and numbers at least.

    Those that lack fewest of them come first, then those that add fewest words, then those for images of this size.
    """
    families = _families(library)
    words = _words(label)
    near = get_close_matches(family_of(label), families, n=1, cutoff=_SIMILAR_FAMILY)
    matcher = SequenceMatcher(b=" ".join(words))
    asked = Counter(words)
    scored = list[tuple[tuple[int, int, int, int, bool, float], str]]()
    for name, parts in families[near[0]] if near else ():
        matcher.set_seq1(" ".join(parts))
        has = Counter(parts)
        lacks, adds = asked - has, has - asked
        if 2 * lacks.total() <= asked.total():
            scored.append(((*_distance(lacks, adds, size), -matcher.ratio()), name))
    return [(name, Confidence.NEAR if far[0] else Confidence.CLOSE) for far, name in sorted(scored)[:MOST_CLOSE]]


def _distance(lacks: Counter[str], adds: Counter[str], size: int) -> tuple[int, int, int, int, bool]:
    """Return how far a name is from a label, by what it lacks and adds; a width of 100 % adds least."""
    added = sum(n for word, n in adds.items() if not word.isdigit() and word not in _ANY_NAME)
    sides = [int(word) for word in adds if re.fullmatch(r"[1-9]\d\d", word) and word != _FULL_WIDTH]
    numbers = sum(n for word, n in adds.items() if word.isdigit())
    return lacks.total(), added, int(any(side != size for side in sides)), numbers, _FULL_WIDTH not in adds


_FULL_WIDTH = "100"


def _words(text: str) -> tuple[str, ...]:
    """Return the words and numbers of a text, the sizes of models in full: ("deit", "small") for DeiT-S."""
    found = re.findall("[a-z]+|[0-9]+", text.lower())
    return tuple("base" if word == "big" else _spell(word) for word in found)


def _spell(word: str) -> str:
    short = _SHORT_SIZE.fullmatch(word)
    return short[1] + _SPELT[_SIZES[short[2]]] if short is not None else word


@cache
def _families(library: Library) -> Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]]:
    """Return the names by their families, each also in its words."""
    pairs = sorted((family_of(name), name) for name in current_models(library))
    grouped = groupby(pairs, key=lambda pair: pair[0])
    return {family: tuple((name, _words(name)) for _, name in names) for family, names in grouped}


def families_in(text: str) -> list[str]:
    """Return the words of a text that families of models are called by, each once."""
    known = {family for library in Library for family in _families(library)} - _COMMON
    return [word for word in dict.fromkeys(re.findall(r"[A-Za-z]+", text)) if word.lower() in known]


def line_of(text: str) -> str:
    """Return the family of a label with its version: pvtv2 for PVT v2-B1, which PVTv1-Tiny is not of."""
    found = re.search(r"([a-z]+?)[-_ ]?(v\d+)?(?![a-z])", text.lower())
    return found[1] + (found[2] or "") if found else ""


def family_of(text: str) -> str:
    """Return the first word of a label or a name, in lower case; "" without one: that of legacy_senet154 is senet."""
    found = re.search("[a-z]+", text.lower().removeprefix("legacy_"))
    return found[0] if found else ""
