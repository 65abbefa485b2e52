"""Which names of a library a label may stand for: its words, other spellings, what is similar, what was meant."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import SequenceMatcher, get_close_matches
from enum import StrEnum
from functools import cache, lru_cache
from itertools import groupby, product

from imlp_audit.models.names.known import USUAL_SIZE, Library, current_models, known_models, size_in_name

SIZES = {"ti": "T", "t": "T", "s": "S", "b": "B", "l": "L", "h": "H", "m": "M",
         "a": "A", "f": "F", "p": "P", "n": "N"}  # fmt: skip
SIZE_WORDS = {"tiny": "T", "small": "S", "base": "B", "large": "L", "huge": "H", "medium": "M",
              "atto": "A", "femto": "F", "pico": "P", "nano": "N"}  # fmt: skip
SHORT_SIZE = re.compile(rf"(x{{0,2}})({'|'.join(SIZES)})(\d*)")  # xs is x-small, xl is x-large
LONG_SIZE = re.compile(rf"(x{{0,2}})({'|'.join(SIZE_WORDS)})")
_SPELT = {letter: word for word, letter in SIZE_WORDS.items()}
_LETTERS = r"[a-z]+?(?=v\d(?!\d)|(?![a-z]))"  # up to a version: mobilenet of mobilenetv3
_WORD = re.compile(rf"(?<![a-z0-9])\d+[mb](?![a-z0-9])|v\d(?!\d)|{_LETTERS}|\d+")  # of 22B, v3, mobilenet, 50
_FAMILY = re.compile(rf"[a-z]+2(?=net|next)(?:net|next)|{_LETTERS}")  # Res2Net is no Res
_VERSION = re.compile(r"v[-_ ]?(?P<digit>\d)(?!\d)|(?<=[-_ ])(?P<roman>ii|iii|iv)(?![a-z])")
_ROMAN = {"ii": 2, "iii": 3, "iv": 4}
_GENERATION = re.compile(r"(?<![a-z])(beit|deit|eva|sam)[-_ ]?0?([2-9])(?!\d)")


def words_of(text: str) -> tuple[str, ...]:
    """Return the words and numbers of a text, the sizes of models in full: ("deit", "small") for DeiT-S."""
    return tuple(_spell(word) for word in _WORD.findall(text.lower()) if word != "v1")


def _spell(word: str) -> str:
    short = SHORT_SIZE.fullmatch(word)
    spelt = short[1] + _SPELT[SIZES[short[2]]] if short is not None else word
    return "base" if word == "big" else spelt


def is_size(word: str) -> bool:
    """Return whether a word in full is the size of a model, such as small or xlarge."""
    return LONG_SIZE.fullmatch(word) is not None


def lost_words(label: str, name: str) -> list[str]:
    """Return the words and numbers of a label that a name lacks, as the label writes them."""
    lost = Counter(words_of(label)) - Counter(words_of(name))
    found = []
    for word in _WORD.finditer(label.lower()):
        spelt = _spell(word[0])
        if lost[spelt] > 0:
            lost[spelt] -= 1
            found.append(label[word.start() : word.end()])
    return found


def same_versions(label: str, name: str) -> bool:
    """Return whether a name has the versions of a label, and none that the label lacks of the label's own words.

    PVT is not pvt_v2, and HRNetV2 is not hrnet_w18_small_v2; ViT-B/14 may be vit_base_patch14_dinov2.
    """
    asked, has = set(_versions(label)), set(_versions(name))
    words = set(words_of(label))
    return asked <= has and not any(owner in words for owner, _ in has - asked)


def _versions(text: str) -> Iterator[tuple[str, int]]:
    """Yield each version with the word that it is of; the first version is as none."""
    text = text.lower()
    for found in _VERSION.finditer(text):
        before = re.findall("[a-z]+", text[: found.start()])
        number = _ROMAN[found["roman"]] if found["roman"] else int(found["digit"])
        if before and number != 1:
            yield before[-1], number
    yield from ((found[1], int(found[2])) for found in _GENERATION.finditer(text))


def line_of(text: str) -> str:
    """Return the family of a label with its version: pvtv2 for PVT v2-B1, which PVTv1-Tiny is not of."""
    found = re.search(r"([a-z]+?)[-_ ]?(v\d+)?(?![a-z])", text.lower())
    return found[1] + (found[2] or "") if found else ""


def family_of(text: str) -> str:
    """Return the first word of a label or a name in lower case, without a version; "" without one.

    That of legacy_senet154 is senet, of mobilenetv3_large_100 mobilenet.
    """
    found = _FAMILY.search(text.lower().removeprefix("legacy_"))
    return found[0] if found else ""


_PUBLISHED = (
    (re.compile(r"\beff(?:[-_ ]?net)?(?=[-_ ]?(?:b\d|v2|lite|l2))", re.IGNORECASE), "EfficientNet"),
    (re.compile(r"\bdeit[-_ ]?iii\b", re.IGNORECASE), "DeiT3"),
    (re.compile(r"\brsb[-_ ](?=resnet)", re.IGNORECASE), ""),  # ResNet Strikes Back: the same models, trained anew
    (re.compile(r"(?<=\d) ?× ?(?=\d)"), "x"),  # ResNeXt-101-32×4d
    (re.compile(r"\b(resnext[-_ ]?\d+) ?\((\d+x\d+d?)\)$", re.IGNORECASE), r"\1-\2"),
    (re.compile(r"(?<=\S) ?\(([a-z]{2,})\)$", re.IGNORECASE), r"-\1"),  # FocalNet-T (SRF); one letter may be a footnote
    (re.compile(r"\b(convnext|swin)[-_ ]?v1\b", re.IGNORECASE), r"\1"),
    (re.compile(r"\s*⚗\s*$"), "-distilled"),
    (re.compile(r"\b(swin.*?)[-_ ]*\(?w(?:in(?:dow)?)?[-_ ]?(\d+)(?:x\2)?\)?$", re.IGNORECASE), r"\1-\2"),  # of 12x12
    (re.compile(r"\btiny[-_ ]?vit[-_ ]?(?=\d+m\b)", re.IGNORECASE), "tiny_vit_"),
    (re.compile(r"^v3[-_ ](?=(?:large|small)\b)", re.IGNORECASE), "MobileNetV3-"),  # as in its own paper's tables
    (re.compile(r"\bmobilenet[-_ ]v(?=\d)", re.IGNORECASE), "MobileNetV"),
    (re.compile(r"\bmobilenetv(\d?)[-_ ]+v(?=\1)", re.IGNORECASE), "MobileNetV"),  # MobileNetV3 V3-Large
    (re.compile(r"\bse[-_ ](?=resnex?t)", re.IGNORECASE), "SE"),
    (re.compile(r"\b(densenet[-_ ]?(?:121|169|201)) ?\( ?k ?= ?32 ?\)$", re.IGNORECASE), r"\1"),  # the growth rates
    (re.compile(r"\bvgg[-_ ]?16[-_ (]+D\)?$", re.IGNORECASE), "vgg16"),  # its configuration in arXiv 1409.1556
    (re.compile(r"\bvgg[-_ ]?19[-_ (]+E\)?$", re.IGNORECASE), "vgg19"),
    (re.compile(r"\b(densenet[-_ ]?161) ?\( ?k ?= ?48 ?\)$", re.IGNORECASE), r"\1"),  # that these models have
    (re.compile(r"\b(regnet[-_ ]?[xy][-_ ]?[\d.]+[-_ ]?[mg])$", re.IGNORECASE), r"\1F"),
)
_SPELLINGS = (
    (re.compile(r"\bresmlp[-_ ]?s(\d+)$", re.IGNORECASE), r"resmlp_\1"),
    (re.compile(r"\bbit[-_ ]?[sml][-_ (]+r[-_ ]?(\d+)[-_ ]?x([1-4])\)?$", re.IGNORECASE), r"resnetv2_\1x\2_bit"),
    (re.compile(r"\b(?:bit[-_ ])?r[-_ ]?(\d+)[-_ ]?x([34])$", re.IGNORECASE), r"resnetv2_\1x\2_bit"),  # Big Transfer
    (re.compile(r"\bnasnet-?a[-_ (]+large\)?$", re.IGNORECASE), "nasnetalarge"),
    (re.compile(r"\bmnasnet[-_ ]?a1$", re.IGNORECASE), "semnasnet_100"),
    (re.compile(r"\binception[-_ ]?v1$", re.IGNORECASE), "googlenet"),
    (re.compile(r"\bfbnet[-_ ]?c$", re.IGNORECASE), "fbnetc_100"),
    (re.compile(r"\b(shufflenet)[-_ ]?v2[-_ (]+[x×]?([012])\.(\d)[x×]?\)?$", re.IGNORECASE), r"\1_v2_x\2_\3"),
    (re.compile(r"\b(shufflenet)[-_ ]?v2[-_ (]+([12])[x×]\)?$", re.IGNORECASE), r"\1_v2_x\2_0"),
    (re.compile(r"\bmlp[-_ ]?mixer\b", re.IGNORECASE), "mixer"),
    (re.compile(r"(?<=[a-z\d])[-_ ]p(\d+)\b", re.IGNORECASE), r"/\1"),  # patches of 16, as in OpenMMLab's vit-base-p16
    (re.compile(r"\bresnet[-_ ]?v1([cds])[-_ ]?(\d+)\b", re.IGNORECASE), r"resnet\2\1"),  # OpenMMLab's resnetv1d50
    (re.compile(r"\bresnet[-_ ]?(\d+)[-_ ]v1([cds])\b", re.IGNORECASE), r"resnet\1\2"),  # GluonCV's resnet50_v1d
)
_MEANT = (  # what a label stands for in the papers that first printed it
    (re.compile(r"\bvgg[-_ (]*A\)?$", re.IGNORECASE), "vgg11"),  # the configurations of arXiv 1409.1556, Table 1
    (re.compile(r"\bvgg[-_ (]*B\)?$", re.IGNORECASE), "vgg13"),
    (re.compile(r"\bvgg[-_ (]*D\)?$", re.IGNORECASE), "vgg16"),
    (re.compile(r"\bvgg[-_ (]*E\)?$", re.IGNORECASE), "vgg19"),
    (re.compile(r"\bViT[-_ ]?G(?=[-_ /]|$)"), "vit_gigantic"),  # arXiv 2106.04560: the large letter
    (re.compile(r"\bViT[-_ ]?g(?=[-_ /]|$)"), "vit_giant"),
    (re.compile(r"^xception$", re.IGNORECASE), "legacy_xception"),  # arXiv 1610.02357; the others are DeepLab's
    (re.compile(r"\bmobilenet[-_ (]*[x×]?(?=[01]\.\d)", re.IGNORECASE), "MobileNetV1 "),  # arXiv 1704.04861
    (re.compile(r"\b(res2net[-_ ]?(?:50|101))$", re.IGNORECASE), r"\1_26w_4s"),  # arXiv 1904.01169, Table 1
)
_WIDE = r"mobilenet[-_ ]?v[123](?:[-_ ](?:large|small))?|mobilevit[-_ ]?v2|ghostnet(?:[-_ ]?v2)?"
_MOBILENET = re.compile(rf"\b({_WIDE})(?:[-_ (]+[x×]?|[x×])([012]\.\d\d?)[x×]?\)?$", re.IGNORECASE)
_REGNET = re.compile(r"\bregnet[-_ ]?([xy])[-_ ]?(\d{1,4}(?:\.\d)?)[-_ ]?([mg])f", re.IGNORECASE)


def spellings(label: str) -> tuple[str, ...]:
    """Return a label as it is, with its abbreviations spelt out, and in the words that timm uses."""
    whole = label
    for pattern, spelling in _PUBLISHED:
        whole = pattern.sub(spelling, whole)
    return tuple(dict.fromkeys((label, whole, respell(whole))))


def first_meaning(label: str) -> str | None:
    """Return what a label without all of a name stands for in the paper that first printed it: vgg16 for VGG-D."""
    return next((pattern.sub(name, label) for pattern, name in _MEANT if pattern.search(label)), None)


def respell(label: str) -> str:
    """Return a label in the words that timm uses: mixer-b/16 for mlp-mixer-b-p16, regnety_160 for RegNetY-16GF.

    Widths of MobileNets are in percent: mobilenetv2_140 for MobileNetV2 1.4.
    """
    for pattern, spelling in _SPELLINGS:
        label = pattern.sub(spelling, label)
    label = _MOBILENET.sub(lambda found: f"{found[1]}_{100 * Decimal(found[2]):03.0f}", label)
    return _REGNET.sub(lambda found: f"regnet{found[1].lower()}_{_tenths(found[2], found[3])}", label)


def _tenths(number: str, unit: str) -> str:
    """Return work in tenths of a billion, as timm's names of RegNets have it: 040 for 4.0 G, 004 for 400 M."""
    work = Decimal(number) * (10 if unit in "gG" else Decimal("0.01"))
    return f"{work:03.0f}" if work == work.to_integral_value() else number


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


_LONGEST = 100


@lru_cache(maxsize=1024)
def suggest(name: str, library: Library) -> str | None:
    """Return what to write for a name that a library does not have: a model of it, or of the other library."""
    if len(name) > _LONGEST:
        return None
    others = [one for one in (Library.TIMM, Library.TORCHVISION) if one is not library]
    for one in others:
        if name in known_models(one):
            return f"{one} has it: {{{one}: {name}}}"
    near = _labelled(name, library)
    if near is not None:
        return f"did you mean {near!r}?"
    for one in others:
        if (near := _labelled(name, one)) is not None:
            return f"{one} may have it: {{{one}: {near}}}"
    family = [one for one, _ in families_of(library).get(family_of(name), ())]
    typed = get_close_matches(name, family or known_models(library), n=1)
    return f"did you mean {typed[0]!r}?" if typed else None


def _labelled(label: str, library: Library) -> str | None:
    """Return the first name that has all of a label, as papers print it: deit_small_patch16_224 for DeiT-S."""
    meant = first_meaning(label)
    for spelt in (*spellings(label), *([meant] if meant else [])):
        found = [name for name, sure in close_models(spelt, library) if sure is not Confidence.NEAR]
        if found:
            return found[0]
    return None
