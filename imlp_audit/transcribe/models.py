"""The model that a row is of: a name only where the label supports it, candidates as a comment otherwise."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from imlp_audit.models.names.known import USUAL_SIZE, Library, own_size
from imlp_audit.models.names.match import Confidence, close_models
from imlp_audit.models.names.spelling import respell
from imlp_audit.transcribe.headings import SIDE, ColumnGuess, side_of
from imlp_audit.transcribe.labels import LabelParts

_LIBRARIES = (Library.TIMM, Library.TORCHVISION)
_TASKS = re.compile(
    r"\b(coco|ade20k|cityscapes|detection|detectors?|segmentation|retinanet|mask r-?cnn|faster r-?cnn|upernet|fcos|"
    r"semantic fpn|m?iou|m?ap|ap\^?[bm]|box ap|mask ap)\b",
    re.IGNORECASE,
)
_OTHER_CLASSES = re.compile(
    r"\b(cifar-?\d*|tiny-?imagenet|imagenet-?100|svhn|mnist|inaturalist|places)\b", re.IGNORECASE
)
_ORIGIN = re.compile(
    r"\b(converted|ported|copied|taken|quoted|cited|downloaded|borrowed) from\b"
    r"|\b(reported|provided|released) (by|in)\b",
    re.IGNORECASE,
)
_TOP1 = re.compile(r"top-?\s?@?1|acc|imagenet|\bin-?1k\b", re.IGNORECASE)


@dataclass(frozen=True)
class ModelGuess:
    """A row's recipe and where it comes from, or the reason why it has none; other names are candidates."""

    recipe: str | None
    library: Library | None
    reason: str
    candidates: tuple[str, ...] = ()


def find_doubt(caption: str, columns: Sequence[ColumnGuess]) -> str | None:
    """Return why the labels of a table may not name whole classifiers of 1000 classes; None where nothing says so."""
    text = " ".join([caption, *(column.heading for column in columns)])
    if any(_TOP1.search(column.heading) for column in columns) and not _OTHER_CLASSES.search(caption):
        return None
    task = _TASKS.search(text)
    if task is not None:
        return f"the table is about {task[0]!r}, so a label may name only a part of the model that was counted"
    other = _OTHER_CLASSES.search(text)
    return f"the table is about {other[0]!r}, so the models have other heads than the library's" if other else None


def find_harmless(marks: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return the marks of which the source says only where the weights or the results come from, and its words."""
    return {mark: text for mark, text in marks if _ORIGIN.search(text)}


def find_size(text: str) -> int | None:
    """Return the side of square images that a caption or a heading between rows gives, if it gives one alone."""
    sides = {side_of(found[0].strip()) for found in SIDE.finditer(text) if not found[0].strip().isdigit()}
    return sides.pop() if len(sides) == 1 else None


def guess_model(
    label: LabelParts,
    size: int | None,
    doubt: str | None,
    harmless: Container[str] = (),
    prefer: Library | None = None,
    *,
    size_matters: bool = False,
) -> ModelGuess:
    """Match a label with the names of the libraries; `size` is the side of the images where the table gives one.

    `harmless` are the footnote marks that change nothing of a model; `prefer` is the library to take first.
    `size_matters` says that the table prints numbers that depend on the size.
    """
    side = label.size or size
    found = {library: _names(label.name, library, side) for library in _LIBRARIES}
    if not _exact(found):
        other = {library: _names(respell(label.name), library, side) for library in _LIBRARIES}
        found = other if _exact(other) else found
    exact = sorted(_exact(found), key=lambda one: one[0] is not prefer)
    close = () if label.changed else tuple(_recipe(at, name, side) for at, names in found.items() for name, _ in names)
    if not exact:
        return ModelGuess(None, None, _why_not(label, close), close[:3])
    reason = doubt or (_why_no_size(exact, label.name, prefer) if side is None and size_matters else None)
    if reason is not None and doubt is None:
        close = tuple(_recipe(*one, own_size(*one)) for one in exact)
    if label.mark and label.mark not in harmless:
        reason = f"the mark {label.mark!r} may stand for a change of the model"
    if reason is not None:
        return ModelGuess(None, None, reason, close[:3])
    library, name = exact[0]
    others = tuple(_recipe(*one, side) for one in exact[1:])
    return ModelGuess(_recipe(library, name, side), library, f"{label.name!r} is {name} of {library}", others)


_Found: TypeAlias = Mapping[Library, tuple[tuple[str, Confidence], ...]]


def _exact(found: _Found) -> list[tuple[Library, str]]:
    return [(library, name) for library, names in found.items() for name, sure in names if sure is Confidence.EXACT]


@lru_cache(maxsize=1024)
def _names(label: str, library: Library, size: int | None) -> tuple[tuple[str, Confidence], ...]:
    return tuple(close_models(label, library, size))


def _why_not(label: LabelParts, close: Sequence[str]) -> str:
    if label.changed:
        return "the label names something that is added to a model"
    return "the label does not say which of these it is" if close else "no library has a model of this name"


def _why_no_size(exact: Sequence[tuple[Library, str]], label: str, prefer: Library | None) -> str | None:
    """Return why the size of the images must be given, where the libraries' own sizes do not settle it."""
    meant = exact[:1] if exact[0][0] is prefer else exact
    sizes = {own_size(*one): one[0] for one in meant}
    if len(sizes) > 1:
        listed = " and ".join(f"{size} in {library}" for size, library in sizes.items())
        return f"the table gives no size of images, and this model was published for {listed}"
    library, name = exact[0]
    (size,) = sizes
    if size != USUAL_SIZE and name.endswith(f"_{size}") and str(size) not in label:
        return f"the table gives no size of images, and {library} has this model for {size} alone"
    return None


def _recipe(library: Library, name: str, side: int | None) -> str:
    own = re.search(r"_(\d{3})$", name)
    if side is None and library is Library.TORCHVISION and own_size(library, name) != USUAL_SIZE:
        side = own_size(library, name)
    if side is None or (own is not None and int(own[1]) == side):
        return f"{{{library}: {name}}}"
    return f"{{{library}: {name}, image: {side}}}"
