"""The words of a label or a name: its family, its versions, its sizes and numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

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
