"""Which names of the libraries a label may stand for: those that it is, and those that share most words with it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, lru_cache
from heapq import nlargest
from itertools import pairwise, product
from math import log
from typing import TypeAlias

from imlp_audit.models.names.known import (
    USUAL_SIZE,
    Library,
    Trait,
    current_models,
    has,
    known_models,
    own_size,
    size_in_name,
)
from imlp_audit.models.names.spelling import first_meaning, is_size, spellings, words_of

Named: TypeAlias = tuple[Library, str]
"""A library and the name of one of its models."""

_LIBRARIES = (Library.TIMM, Library.TORCHVISION)
_FAMILY = re.compile(r"[a-z]+2(?=net|next)(?:net|next)|[a-z]+?(?=v\d(?!\d)|(?![a-z]))")  # Res2Net is no Res
_PLAIN = re.compile(r"[A-Za-z0-9\s\-‐‑–_/.×]*")
_NAME = re.compile(r"(?P<head>.+?)(?:_(?:patch|p)(?P<patch>\d+))?(?:_window(?P<window>\d+))?(?P<width>_\d{3})?")


def family_of(text: str) -> str:
    """Return the first word of a label or a name in lower case, without a version; "" without one.

    That of legacy_senet154 is senet, of mobilenetv3_large_100 mobilenet.
    """
    found = _FAMILY.search(text.lower().removeprefix("legacy_"))
    return found[0] if found else ""


@cache
def _families(library: Library) -> Mapping[str, tuple[str, ...]]:
    grouped = defaultdict[str, list[str]](list)
    for name in sorted(current_models(library)):
        grouped[family_of(name)].append(name)
    return {family: tuple(names) for family, names in grouped.items()}


def names_of_all_windows(name: str, library: Library) -> list[str]:
    """Return the names that differ from a name at most in their windows and their sizes of images, itself included."""
    parts = [_parse(library, one) for one in (name, *_families(library).get(family_of(name), ()))]
    first = parts[0]
    return [one.name for one in parts[1:] if (one.head, one.patch, one.width) == (first.head, first.patch, first.width)]


def variants_of(name: str, library: Library) -> list[str]:
    """Return the names that have one word more than a name, such as deit_tiny_distilled_patch16_224."""
    words = Counter(name.split("_"))
    family = _families(library).get(family_of(name), ())
    more = ((one, Counter(one.split("_")) - words) for one in family if not words - Counter(one.split("_")))
    return [one for one, added in more if added.total() == 1 and not any(map(str.isdigit, "".join(added)))]


@dataclass(frozen=True)
class _Name:
    library: Library
    name: str
    head: str
    patch: str
    window: str
    width: str
    size: int | None


@cache
def _parse(library: Library, name: str) -> _Name:
    size = size_in_name(library, name)
    found = _NAME.fullmatch(name.removesuffix(f"_{size}"))
    head, patch, window, width = found.groups(default="") if found else (name, "", "", "")
    return _Name(library, name, head, patch, window, width, size)


def names_of(label: str, library: Library, side: int | None = None) -> list[str]:
    """Return the names that a label is in other separators and cases, with T, S, B, ... for the words of sizes.

    A name's sizes of patches, windows, widths and images may be left out in the label: of those of images, those of
    `side` are taken, and without it the usual one.
    """
    if not _PLAIN.fullmatch(label):
        return []
    key = _key(label)
    found = _index(library).get(key, ())
    whole = [one.name for one in found if _key(one.name) == key]
    if whole:
        return whole
    sized = [one.name for one in found if one.size == (side or USUAL_SIZE)]
    return sized or [one.name for one in found if one.size is None] or [one.name for one in found]


@cache
def _index(library: Library) -> Mapping[str, tuple[_Name, ...]]:
    """Return the names by everything that a label for them may be normalised to."""
    grouped = defaultdict[str, dict[_Name, None]](dict)
    for name in sorted(current_models(library)):
        one = _parse(library, name)
        ends = product(("", one.patch), ("", one.window), ("", one.width), ("", str(one.size or "")))
        for text in {name, *("_".join(filter(None, (one.head, *end))) for end in ends)}:
            grouped[_key(text)][one] = None
    return {key: tuple(names) for key, names in grouped.items()}


def _key(text: str) -> str:
    """Return the words of a text joined, digits kept apart."""
    words = words_of(text)
    marks = ("_" if one[-1].isdigit() and other[0].isdigit() else "" for one, other in pairwise(words))
    return "".join(f"{word}{mark}" for word, mark in zip(words, [*marks, ""], strict=False))


# How far a name is from a label: what each word gives or costs, in logarithms of how rare it is among all names.
_WEIGHTY, _IN_CONTEXT, _UNKNOWN = 2.0, 0.3, 3.0
_OTHER_SIZE, _ONLY_LIKE = 0.8, 1.0
_OPEN = frozenset({"patch", "window", "w"})  # words that say nothing without their number
_NO_FAMILY = frozenset({"distilled", "test", "patch", "window", "legacy", "wide", "lambda", "res", "net", "conv"})


@dataclass(frozen=True)
class _Ranked:
    """A name with its words, each once and numbered where it comes again."""

    library: Library
    name: str
    words: frozenset[str]
    size: int | None
    cost: float


@cache
def _vocabulary() -> tuple[tuple[_Ranked, ...], Mapping[str, tuple[int, ...]], Mapping[str, float]]:
    """Return all names, the places of those that have a word, and what each word weighs."""
    pairs = [(library, name) for library in _LIBRARIES for name in sorted(current_models(library))]
    pairs = [one for one in pairs if not one[1].startswith("test_")]
    worded = [_numbered(words_of(_stem(*pair))) for pair in pairs]
    frequencies = Counter(word for words in worded for word in words)
    rarities = {word: log(len(pairs) / count) for word, count in frequencies.items()}
    weights = {word: one * (_WEIGHTY if is_size(word) or _is_version(word) else 1) for word, one in rarities.items()}
    places = defaultdict[str, list[int]](list)
    names = []
    for at, (pair, words) in enumerate(zip(pairs, worded, strict=True)):
        for word in words:
            places[word].append(at)
        cost = sum(_cost(word, weights) for word in sorted(words)) + _ONLY_LIKE * has(Trait.LIKE, *pair)
        names.append(_Ranked(*pair, words, size_in_name(*pair), cost + (pair[0] is Library.TORCHVISION) / 20))
    return tuple(names), {word: tuple(at) for word, at in places.items()}, weights


def _stem(library: Library, name: str) -> str:
    """Return a name without the size of its images, and without the letter before a size of patches."""
    return re.sub(r"_p(?=\d)", "_", name.removesuffix(f"_{size_in_name(library, name)}"))


def _numbered(words: Iterable[str]) -> frozenset[str]:
    """Return words, each as a word of its own where it comes again: 32 and 32' of 32x32d."""
    seen = set[str]()
    for word in words:
        while word in seen:
            word += "'"
        seen |= {word} - _OPEN
    return frozenset(seen)


def _cost(word: str, weights: Mapping[str, float]) -> float:
    """Return what a word that its label lacks costs a name: most for another version, little for a number."""
    if word.isdigit():
        return 0.1 if word in _USUAL else 0.3
    return 0.6 + 0.05 * weights[word] + (2.0 if _is_version(word) else 0)


def rank(label: str, context: str = "", side: int | None = None, most: int = 20) -> list[tuple[float, Named]]:
    """Return the names that share most words with a label, and then with the text around it, the best first.

    Rare words weigh more than common ones, sizes and versions more than others. A name has a word of a family in common
    with the label or the text; names for images of `side`, or of the usual size, come before those for others.
    """
    best: dict[int, float] = {}
    around = _around(context)
    for words in {_known_words(spelt) for spelt in (*spellings(label), first_meaning(label) or label)}:
        for at, score in _scores(words, around).items():
            best[at] = max(score, best.get(at, score))
    names, wanted = _vocabulary()[0], side or USUAL_SIZE
    for at in best:
        best[at] -= _OTHER_SIZE * (names[at].size not in (None, wanted))
    found = nlargest(most, best, key=lambda at: (best[at], -at))
    return [(best[at], (names[at].library, names[at].name)) for at in found]


@lru_cache(maxsize=256)
def _around(context: str) -> frozenset[str]:
    weights = _vocabulary()[2]
    words = {word for word in _known_words(context) if _is_family(word) or _is_version(word)}
    return frozenset(word for word in words if word in weights)


def is_of_family(label: str) -> bool:
    """Return whether a label has a word that a family of models is called by."""
    weights = _vocabulary()[2]
    return any(_is_family(word) and word in weights for spelt in spellings(label) for word in _known_words(spelt))


def _is_family(word: str) -> bool:
    return len(word) > 2 and word[0].isalpha() and not is_size(word) and word not in _NO_FAMILY


WEIGHTS = re.compile(  # what names of weights end in, which says nothing of the architecture
    r"(?:[._-]+(?:fb_|ms_|miil_)?(?:in(?:1|12|21|22)k|(?:in)?(?:1|12|21|22)k|(?:in)?(?:12|21|22)k?_?ft_?(?:in)?_?1k|ns|ap))+$",
    re.IGNORECASE,
)


def is_spelt(label: str, name: str, *, whole: bool = False) -> bool:
    """Return whether a label begins with a word of a name and has no other version: Agent-Swin-S is no Swin.

    The `whole` label has no other word or number, before the name of its weights and a remark that begins with a mark.
    """
    own, each = set(_split_words(name)), list(map(_split_words, spellings(label)))
    if re.search(r"v1(?!\d)", label, re.IGNORECASE) and any(map(_is_version, own)):  # names leave v1 out
        return False
    if whole:
        bare = WEIGHTS.sub("", re.sub(r"\s+[*†‡§].*", "", label))
        return any(own.issuperset(_split_words(one)) for one in spellings(bare))
    begins = (next((word for word in words if word[0].isalpha()), "") for words in each)
    return any({first, *filter(_is_version, words)} <= own for first, words in zip(begins, each, strict=True))


def denies(label: str, first: Named, other: Named, *, whole: bool = False) -> bool:
    """Return whether a label says a word of one name that another lacks: "b5" of pvt_v2_b5, where that is pvt_v2_b2.

    Where the `whole` label is the first name, another has no word more: VGG-13 is not vgg13_bn.
    """
    said = {word for spelt in spellings(label) for word in _split_words(spelt)}
    own, others = (set(_split_words(_stem(*one))) - _OPEN - _USUAL for one in (first, other))
    if whole and other[1] not in names_of_all_windows(first[1], first[0]) and others - own - _SAME:
        return True
    return bool(said & own - others)


_SAME = frozenset({"legacy", "tf"})  # of other code for the same model
_USUAL = frozenset({"16", "100"})  # the usual size of patches, and the usual width


def _is_version(word: str) -> bool:
    return re.fullmatch(r"v\d", word) is not None


def _known_words(text: str) -> frozenset[str]:
    return _numbered(_split_words(text))


@lru_cache(maxsize=4096)
def _split_words(text: str) -> tuple[str, ...]:
    """Return the words of a text as names have them: "eca resnet" is ecaresnet, "tinyvit" is tiny vit."""
    weights = _vocabulary()[2]
    found: list[str] = []
    for word in words_of(text[:_LONGEST_TEXT]):
        if found and found[-1].isalpha() and word.isalpha() and (joined := found[-1] + word) in weights:
            found[-1] = joined
        elif word not in weights and word.isalpha():
            cut = next((at for at in range(len(word) - 3, 2, -1) if {word[:at], word[at:]} <= weights.keys()), None)
            found += [word] if cut is None else [word[:cut], word[cut:]]
        else:
            found.append(word)
    return tuple(found)


_LONGEST_TEXT = 2_000


@lru_cache(maxsize=4096)
def _scores(words: frozenset[str], around: frozenset[str]) -> dict[int, float]:
    """Return the scores of all names that have a family's word of a label, or of the text around it."""
    names, places, weights = _vocabulary()
    families = {at for word in words | around if _is_family(word.rstrip("'")) for at in places.get(word, ())}
    lost = sum(weights.get(word, _UNKNOWN) for word in sorted(words)) / 2
    scores = {at: -names[at].cost - lost for at in families}
    gains = {word: 1.5 * weights[word] + _cost(word, weights) for word in words if word in weights}
    gains |= {word: _IN_CONTEXT * weights[word] + _cost(word, weights) for word in around - words}
    for word, gain in sorted(gains.items()):  # in one order: sums of floats depend on it
        for at in places[word]:
            if at in scores:
                scores[at] += gain
    return scores


_LONGEST = 100


@lru_cache(maxsize=1024)
def suggest(name: str, library: Library) -> str | None:
    """Return what to write for a name that a library does not have: a model of it, or of the other library."""
    if len(name) > _LONGEST:
        return None
    others = [one for one in _LIBRARIES if one is not library]
    elsewhere = next((one for one in others if name in known_models(one)), None)
    if elsewhere is not None:
        return f"{elsewhere} has it: {{{elsewhere}: {name}}}"
    for one in (library, *others):
        if (near := find_labelled(name, one)) is not None:
            return f"did you mean {near!r}?" if one is library else f"{one} may have it: {{{one}: {near}}}"
    family = _families(library).get(family_of(name), ())
    typed = get_close_matches(name, family or known_models(library), n=1)
    return f"did you mean {typed[0]!r}?" if typed else None


def find_labelled(label: str, library: Library) -> str | None:
    """Return the name that a label stands for, as papers print it: deit_small_patch16_224 for DeiT-S."""
    spelt = (*spellings(label), first_meaning(label) or label)
    names = [name for one in spelt for name in names_of(one, library)]
    return max(names, key=lambda name: ("_100" in name, own_size(library, name) == USUAL_SIZE), default=None)
