"""A row's label in its parts, and the sides of square images that labels, cells and captions give."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass

from imlp_audit.models.names.known import Library, known_models
from imlp_audit.transcribe.cells import split_mark

_SIDE = re.compile(r"(\d{2,4})\s*(?:\^2|²|\s*[×xX*]\s*\1)?(?:[\s-]*(?:px|pixels?))?", re.ASCII)
_BETWEEN = re.compile(r"\s*(?:[/,;|&→↑]|\band\b|\bto\b|->)\s*")  # two sizes in one cell
_SMALLEST, _LARGEST = 16, 1536
_LEAST = 32
_LONGEST = 300  # characters of a label

_NUMBERS = r"\d+(?:\s*[,–-]\s*\d+)*"
_YEAR = r"(?:(?:19|20)\d\d|['’]\d\d)[a-z]?"
_LETTER = r"[^\W\d_]"
_BRACKETS = re.compile(r"\s*[(\[]([^()\[\]]*)[)\]]")
_CITATION = re.compile(rf"(?:{_LETTER}|[\s,.&'’-])+(?:[\s,]|(?=['’])){_YEAR}(?:\s*,\s*(?:{_YEAR}|[a-z]))*\s*")
_PERSON = re.compile(rf"[A-ZÀ-ÖØ-ÞĀ-Ž]{_LETTER}*[a-zß-öø-ÿ]|(?:CVPR|ICCV|ECCV|ICLR|ICML|NIPS|AAAI|WACV|BMVC|TPAMI)\b")
_NO_AUTHOR = re.compile(r"\b(?:ours?|this|with|proposed|modified|distill\w*|prun\w*|quanti\w*)\b", re.IGNORECASE)

_SIZED = re.compile(
    r"\s*(?:(?:[↑@]|\bat\b)\s*(?P<at>\d{3,4})(?:\s*(?:\^2|²|[×x]\s*(?P=at)))?"
    r"|[(/,]?\s*(?P<plain>\d{3,4}\s*(?:\^2|²|[×x]\s*\d{3,4}))\s*\)?)$"
)
_REMARK = re.compile(r"(?<=\S)\s*(\((?:ours?|proposed|this (?:work|paper))\))$", re.IGNORECASE)  # of the authors
_WITHOUT = r"\bw/o\b|\bwithout\b|\bno\b(?!\.)"
_ALONE = re.compile(rf"^(?:[-–−]\s*(?={_WITHOUT}|w/|with\b))?(?:{_WITHOUT}|\+|w/|with\b|&)\s*", re.IGNORECASE)
_INSIDE = re.compile(rf"\s*(?:{_WITHOUT}|\+|\bw/|\bwith\b)\s*", re.IGNORECASE)
_CONFIG = re.compile(  # OpenMMLab's names: model_pretraining_batch-and-recipe_data, as resnet50_8xb256-rsb-a1-600e_in1k
    r"(?P<name>[^\W_](?:[^\s_.]|\.(?=\d))*)_(?P<training>(?:[^\s_]+_)*?)"
    r"(?:(?P<side>\d{3})_)?in1k(?:-(?P<px>\d{3})(?:px)?)?"
)


def side_of(text: str) -> int | None:
    """Return the side of square images that a text such as 224^2 or 224x224 gives; None where it gives none."""
    found = _SIDE.fullmatch(split_mark(text)[0])
    return int(found[1]) if found is not None and int(found[1]) >= _SMALLEST else None


def sides_in(text: str) -> tuple[int, ...]:
    """Return the sides of a text that gives one or several, as 224 / 384; none for any other."""
    sides = [side_of(part) for part in _BETWEEN.split(text)]
    return tuple(side for side in sides if side is not None) if None not in sides else ()


def may_be_side(number: int) -> bool:
    """Return whether a number without a unit may be the side of images: no year, no round number of epochs."""
    return number % 16 == 0 and number % 100 != 0 and _SMALLEST <= number <= _LARGEST


def sides_named(text: str) -> tuple[int, ...]:
    """Return the sides that a text writes as squares or in pixels; smaller ones may be those of patches or windows."""
    sides = (side_of(found[0].strip()) for found in _SIDE.finditer(text) if not found[0].strip().isdigit())
    return tuple(dict.fromkeys(side for side in sides if side is not None and side >= _LEAST))


def without_citations(text: str) -> str:
    """Return a label without its citations; a year alone, as in (2016), (SE, 2018) and (ours, 2021) are none."""
    text = _BRACKETS.sub(lambda found: "" if _is_citation(found[1]) else found[0], text)
    return re.sub(rf"\s*\[+\s*{_NUMBERS}\s*\]+", "", text)


def _is_citation(inside: str) -> bool:
    """Return whether every part names a person or a conference, unlike capital letters that may be a block's name."""
    named = all(_CITATION.fullmatch(part) and _PERSON.search(part) for part in inside.split(";"))
    return named and _NO_AUTHOR.search(inside) is None


@dataclass(frozen=True)
class LabelParts:
    """A label without its mark; `name` is the model's name in it, `size` the side of the images that it gives.

    `training` is what the name of a configuration says about the training, `remark` that the model is the authors'.
    `builds_on` is the label of an earlier row if this one says that it is that row with something added or left out.
    """

    text: str
    name: str
    mark: str = ""
    size: int | None = None
    builds_on: str | None = None
    training: str | None = None
    remark: str = ""

    @property
    def added(self) -> bool:
        """Whether the label is only what is added to the row above, or left out of it."""
        return _ALONE.match(self.text) is not None

    @property
    def changed(self) -> bool:
        """Whether the label says that something was added to a model, or left out of it."""
        return self.added or _INSIDE.search(self.name) is not None


def is_tagged(label: str) -> bool:
    """Return whether a label is timm's name of a model with that of its weights, as resnet50.a1_in1k."""
    name, dot, weights = label.partition(".")
    return bool(dot) and weights.isidentifier() and name in known_models(Library.TIMM)


def read_label(text: str, above: LabelParts | None, known: Container[str]) -> LabelParts:
    """Take a label apart, knowing that of the row above and, in lower case, those of all rows above."""
    plain, mark = split_mark(" ".join(without_citations(text[:_LONGEST]).split()))
    remark = _REMARK.search(plain)
    bare, inner = split_mark(plain[: remark.start()] if remark else plain)
    plain, mark = f"{bare} {remark[1]}" if remark else bare, inner + mark
    config = _CONFIG.fullmatch(plain)
    if config is not None and not is_tagged(plain.removeprefix("timm/")):
        side = side_of(config["side"] or config["px"] or "")
        return LabelParts(plain, config["name"], mark, side, training=config["training"].strip("_") or None)
    sized = _SIZED.search(bare)
    size = next((side_of(part) for part in sized.groups() if part), None) if sized else None
    name = bare[: sized.start()].rstrip(" -–") if sized and size is not None and sized.start() else bare
    unsized = split_mark(name)[0] if name != bare else name
    base = _find_base(plain, above, known)
    return LabelParts(plain, unsized, mark, size if name != bare else None, base, remark=remark[1] if remark else "")


def _find_base(text: str, above: LabelParts | None, known: Container[str]) -> str | None:
    """Return the label above that this one builds on: "DeiT-S" for "DeiT-S + SE", or for "+ SE" right under it."""
    if _ALONE.match(text):
        return None if above is None else above.builds_on if above.added else above.text
    parts = _INSIDE.split(text, maxsplit=1)
    return parts[0] if len(parts) == 2 and parts[1] and parts[0].casefold() in known else None
