"""The model that a row is of: a name only where the label supports it, candidates as a comment otherwise."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from imlp_audit.models.names.known import USUAL_SIZE, Library, current_models, own_size, size_in_name
from imlp_audit.models.names.match import Confidence, close_models
from imlp_audit.models.names.spelling import spellings
from imlp_audit.transcribe.cells import MARKS
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
    r"|\b(reported|provided|released) (by|in)\b"
    r"|\btrained (with|for|using) [^.;]*\b(regulari[sz]ation|augmentations?|epochs|schedule)\b",
    re.IGNORECASE,
)
_IN_CAPTION = re.compile(
    rf"\^?([{re.escape(MARKS)}])\s*(?:denotes?|indicates?|means?|marks?|stands? for|refer\w* to|[:=])\s[^.;]*"
)
_MORE = re.compile(
    r"distill|token|resolution|fine-?tun|\b\d{3}(?:\^2|²|px|\s?[x×])|modif|replac|\bwithout\b", re.IGNORECASE
)
_TOP1 = re.compile(r"top-?\s?@?1|acc|imagenet|\bin-?1k\b", re.IGNORECASE)


@dataclass(frozen=True)
class ModelGuess:
    """A row's recipe and where it comes from, or the reason why it has none; other names are candidates.

    `nearest` are models of which no name has all of the label.
    """

    recipe: str | None
    library: Library | None
    reason: str
    candidates: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()


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


def find_harmless(marks: Sequence[tuple[str, str]], caption: str = "") -> dict[str, str]:
    """Return the marks that change no model by the words of the source, and these words.

    They say where the weights or the results come from, or that a model was trained with more epochs or regularization.
    """
    explained = (*marks, *((found[1], found[0].strip()) for found in _IN_CAPTION.finditer(caption)))
    said = Counter(mark for mark, _ in explained)
    return {
        mark: text for mark, text in explained if said[mark] == 1 and _ORIGIN.search(text) and not _MORE.search(text)
    }


def find_size(text: str) -> int | None:
    """Return the side of square images that a caption or a heading between rows gives, if it gives one alone."""
    sides = {side_of(found[0].strip()) for found in SIDE.finditer(text) if not found[0].strip().isdigit()}
    return sides.pop() if len(sides) == 1 else None


@dataclass(frozen=True)
class TableSays:
    """What a table says about the models of all its rows.

    `harmless` are the footnote marks that change nothing of a model, `prefer` is the library to take first, and
    `unsized` says that there are FLOPs whose heading gives no size of images. `headed` and `captioned` are the families
    of models that the heading of the labels and the caption name.
    """

    harmless: Mapping[str, str]
    prefer: Library | None = None
    unsized: bool = False
    headed: tuple[str, ...] = ()
    captioned: tuple[str, ...] = ()


def guess_model(label: LabelParts, size: int | None, doubt: str | None, table: TableSays) -> ModelGuess:
    """Match a label with the names of the libraries; `size` is the side of the images where the table gives one."""
    side = label.size or size
    found = _find(label.name, side, table)
    exact = _with(Confidence.EXACT, found)
    close = () if label.changed else tuple(_recipe(*one, side) for one in _with(Confidence.CLOSE, found))
    if not exact:
        return _without(label, side, found, close, table)
    reason = doubt or _why_other_size(exact[0], side, label.name)
    if reason is None and exact[0][0] is not table.prefer:
        reason = _why_no_width(label.name, exact)
    candidates = (*(_recipe(*one, side) for one in exact), *close)[:3]
    if reason is None and side is None and table.unsized:
        reason = _why_no_size(exact, label.name, table.prefer)
        candidates = tuple(_recipe(*one, own_size(*one)) for one in exact)
    if label.mark and label.mark not in table.harmless:
        reason = f"the mark {label.mark!r} may stand for a change of the model"
    if reason is not None:
        return ModelGuess(None, None, reason, candidates)
    library, name = exact[0]
    others = tuple(_recipe(*one, side) for one in exact[1:])
    return ModelGuess(_recipe(library, name, side), library, f"{label.name!r} is {name} of {library}", others)


def _without(
    label: LabelParts, side: int | None, found: _Found, close: tuple[str, ...], table: TableSays
) -> ModelGuess:
    """Return why a label that is not the name of one model has none, and the names that it may stand for."""
    if label.changed:
        return ModelGuess(None, None, "the label names something that is added to a model")
    if len(close) > 1:
        return ModelGuess(None, None, "the label does not say which of these it is", close[:3])
    if close:
        return ModelGuess(None, None, "the label is only a part of this name", close)
    for family in table.captioned:
        exact = _with(Confidence.EXACT, _first(f"{family}-{label.name}", side, table))
        if exact:
            short = f"the caption names {family}, which the label may leave out"
            return ModelGuess(None, None, short, tuple(_recipe(*one, side) for one in exact))
    near = tuple(_recipe(*one, side) for one in _with(Confidence.NEAR, found))
    return ModelGuess(None, None, "no library has a model of this name", (), near[:3])


_Found: TypeAlias = Mapping[Library, tuple[tuple[str, Confidence], ...]]


def _with(sure: Confidence, found: _Found) -> list[tuple[Library, str]]:
    return [(library, name) for library, names in found.items() for name, one in names if one is sure]


def _find(label: str, size: int | None, table: TableSays) -> _Found:
    """Return what is known of a label, or of it after a family that the heading names: CaiT-xxs-24 for xxs-24."""
    found = _first(label, size, table)
    if any(found.values()):
        return found
    headed = (_first(f"{family}-{label}", size, table) for family in table.headed)
    return next((one for one in headed if any(one.values())), found)


def _first(label: str, size: int | None, table: TableSays) -> _Found:
    """Return names, the preferred library's first, for the first spelling that stands for one; else for the last."""
    spelt = spellings(label)
    found = dict[Library, tuple[tuple[str, Confidence], ...]]()
    for library in sorted(_LIBRARIES, key=lambda one: one is not table.prefer):
        known = [_names(one, library, size) for one in spelt]
        sure = (names for names in known if any(one is Confidence.EXACT for _, one in names))
        found[library] = next(sure, known[-1])
    return found


@lru_cache(maxsize=1024)
def _names(label: str, library: Library, size: int | None) -> tuple[tuple[str, Confidence], ...]:
    return tuple(close_models(label, library, size))


def _why_no_size(exact: Sequence[tuple[Library, str]], label: str, prefer: Library | None) -> str | None:
    """Return why the size of the images must be given, where the libraries' own sizes do not settle it."""
    meant = exact[:1] if exact[0][0] is prefer else exact
    sizes = {own_size(*one): one[0] for one in meant}
    if len(sizes) > 1:
        listed = " and ".join(f"{size} in {library}" for size, library in sizes.items())
        return f"the table gives no size of images, and this model was published for {listed}"
    library, name = exact[0]
    (size,) = sizes
    if size == USUAL_SIZE or str(size) in label or (library is prefer and size_in_name(library, name) is None):
        return None
    return f"the table gives no size of images, and {library} has this model for {size} alone"


def _why_no_width(label: str, exact: Sequence[tuple[Library, str]]) -> str | None:
    """Return why a label of one library's model is not all of a name: another has it in widths, as mobilenetv2_140."""
    if any(label == name for _, name in exact):
        return None
    for library in set(_LIBRARIES) - {library for library, _ in exact}:
        heads = (name.rpartition("_") for name in current_models(library) if size_in_name(library, name) is None)
        if any(width.isdigit() and _bare(head) == _bare(label) for head, _, width in heads):
            return f"the label gives no width, and {library} has this model in several"
    return None


def _bare(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _why_other_size(model: tuple[Library, str], side: int | None, label: str) -> str | None:
    """Return why the size of the images is not known, where the label gives another than the table does."""
    said = size_in_name(*model)
    if said is None or side in (None, said) or not re.search(rf"(?<!\d){said}(?!\d)", label):
        return None
    return f"the label gives images of {said}, and the table of {side}"


def _recipe(library: Library, name: str, side: int | None) -> str:
    if side is None and own_size(library, name) != USUAL_SIZE:
        side = own_size(library, name)
    if side is None or side == size_in_name(library, name):
        return f"{{{library}: {name}}}"
    return f"{{{library}: {name}, image: {side}}}"
