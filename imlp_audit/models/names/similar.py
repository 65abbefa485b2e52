"""The names of a label's family that come nearest to it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from difflib import SequenceMatcher
from functools import cache
from itertools import groupby

from imlp_audit.models.names.known import Library, current_models
from imlp_audit.models.names.words import family_of, is_size, same_versions, words_of

_COMMON = frozenset({"test", "tiny", "wide", "res", "legacy", "lambda", "halo", "bat", "nest", "inception"})
_ANY_NAME = frozenset({"patch", "p", "window", "w"})  # words that say nothing without their number
_FULL_WIDTH = "100"


def similar_names(label: str, library: Library, size: int) -> list[tuple[str, bool]]:
    """Return names of the label's family, and whether each has all of its words and numbers.

    They have its versions and its size, and more than half of its words. Those that lack fewest of them come first,
    then those that add fewest words, then those for images of this size.
    """
    words = words_of(label)
    matcher = SequenceMatcher(b=" ".join(words))
    asked = Counter(words)
    scored = list[tuple[tuple[int, int, int, int, bool, float], str]]()
    for name, parts in families_of(library).get(family_of(label), ()):
        has = _count(parts)
        lacks = asked - has
        if 2 * lacks.total() < asked.total() and not any(map(is_size, lacks)) and same_versions(label, name):
            matcher.set_seq1(" ".join(parts))
            scored.append(((*_distance(lacks, has - asked, size), -matcher.ratio()), name))
    return [(name, far[0] == 0) for far, name in sorted(scored)]


@cache
def _count(words: tuple[str, ...]) -> Counter[str]:
    return Counter(words)


def _distance(lacks: Counter[str], adds: Counter[str], size: int) -> tuple[int, int, int, int, bool]:
    """Return how far a name is from a label, by what it lacks and adds; a width of 100 % adds least."""
    added = sum(n for word, n in adds.items() if not word.isdigit() and word not in _ANY_NAME)
    sides = [int(word) for word in adds if re.fullmatch(r"[1-9]\d\d", word) and word != _FULL_WIDTH]
    numbers = sum(n for word, n in adds.items() if word.isdigit())
    return lacks.total(), added, int(any(side != size for side in sides)), numbers, _FULL_WIDTH not in adds


@cache
def families_of(library: Library) -> Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]]:
    """Return the names by their families, each also in its words."""
    pairs = sorted((family_of(name), name) for name in current_models(library))
    grouped = groupby(pairs, key=lambda pair: pair[0])
    return {family: tuple((name, words_of(name)) for _, name in names) for family, names in grouped}


def families_in(text: str) -> list[str]:
    """Return the words of a text that families of models are called by, each once, with a version such as V2."""
    known = {family for library in Library for family in families_of(library)} - _COMMON
    found = re.findall(r"[A-Za-z]+?(?:[vV]\d\b|(?![A-Za-z]))", text)
    return [word for word in dict.fromkeys(found) if family_of(word) in known]
