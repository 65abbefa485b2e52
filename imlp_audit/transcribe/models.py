"""The model that a row is of: a name only where the label supports it, candidates as a comment otherwise."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from imlp_audit.models.names.known import (
    USUAL_SIZE,
    Library,
    current_models,
    own_size,
    resembles,
    size_in_name,
)
from imlp_audit.models.names.match import Confidence, close_models, names_of_all_sizes, variants_of
from imlp_audit.models.names.spelling import spellings
from imlp_audit.numbers.words import list_some
from imlp_audit.transcribe.cells import MARKS
from imlp_audit.transcribe.headings import ColumnGuess
from imlp_audit.transcribe.image_sizes import (
    Given,
    Named,
    models_of_all_sizes,
    why_not_for_all,
    why_other,
    why_own,
    why_several,
)
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

    `nearest` are models of which no name has all of the label, `variants` those whose names have one more word than
    the recipe's. `sized` says that the source gives the size of the images.
    """

    recipe: str | None
    library: Library | None
    reason: str
    candidates: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    sized: bool = False


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


@dataclass(frozen=True)
class TableSays:
    """What a table says about the models of all its rows.

    `harmless` are the footnote marks that change nothing of a model, `prefer` is the library to take first, and
    `unsized` says that there are FLOPs whose heading gives no size of images. `headed` and `captioned` are the families
    of models that the heading of the labels and the caption name. `given` is the size of images for rows without one:
    that of the caption, or a person's.
    """

    harmless: Mapping[str, str]
    prefer: Library | None = None
    unsized: bool = False
    headed: tuple[str, ...] = ()
    captioned: tuple[str, ...] = ()
    given: Given = None


def guess_model(label: LabelParts, size: int | None, doubt: str | None, table: TableSays) -> ModelGuess:
    """Match a label with the names of the libraries; `size` is the side of the images where the row gives one."""
    row = label.size or size
    side = row or (table.given if isinstance(table.given, int) else None)
    name, found = _find(label.name, side, table)
    exact = _with(Confidence.EXACT, found)
    close = () if label.changed else tuple(_recipe(*one, side) for one in _with(Confidence.CLOSE, found))
    if not exact:
        return _without(label, side, found, close, table)
    reason = doubt or _why_another(exact, label.name, side, table) or _why_longer(found, exact, side)
    candidates = (*(_recipe(*one, side) for one in exact), *close)[:3]
    if reason is None:
        sized = _why_no_size(exact, name, row, table)
        reason, candidates = sized if sized is not None else (None, candidates)
    (library, model), *rest = exact
    variants = tuple(variants_of(model, library))
    if label.mark and label.mark not in table.harmless:
        reason = f"the mark {label.mark!r} may stand for a change of the model"
        candidates = (candidates[0], *(_recipe(library, one, side) for one in variants[:2]), *candidates[1:])[:3]
    if reason is not None:
        return ModelGuess(None, None, reason, candidates)
    said = side or size_in_name(library, model)
    return ModelGuess(
        _recipe(library, model, side),
        library,
        f"{label.name!r} is {model} of {library}",
        tuple(_recipe(*one, side) for one in rest if side is None or own_size(*one) == own_size(library, model)),
        variants=variants,
        sized=said is not None and (side is not None or str(said) in label.name),
    )


def _why_another(exact: Sequence[Named], label: str, side: int | None, table: TableSays) -> str | None:
    """Return why a label that is a model's name may stand for another model."""
    library, name = exact[0]
    if label == name:
        return why_other(exact[0], side, label)
    if resembles(library, name):
        return f"{library} says that its {name} is only like the paper's"
    reason = why_other(exact[0], side, label)
    if reason is not None or library is table.prefer:
        return reason
    return _why_no_width(exact) or _why_more_names(label, side, exact)


def _why_longer(found: _Found, exact: Sequence[Named], side: int | None) -> str | None:
    """Return why a label may stand for a longer name: that one is of these images, and the label's is not."""
    longer = [one for one in _with(Confidence.CLOSE, found) if side is not None and size_in_name(*one) == side]
    if not longer or own_size(*exact[0]) == side:
        return None
    return f"{longer[0][0]} has a model for images of {side} under a longer name: {longer[0][1]}"


def _why_no_size(
    exact: Sequence[Named], label: str, row: int | None, table: TableSays
) -> tuple[str, tuple[str, ...]] | None:
    """Return why the size of the images leaves a model open, and the models that it may be; None where it does not."""
    if row is not None:
        return None
    if isinstance(table.given, int):
        reason, models = why_not_for_all(exact, table.given), list(exact)
    else:
        models = models_of_all_sizes(label, [exact[0][0]] if exact[0][0] is table.prefer else _LIBRARIES)
        reason = why_several(models) if models else None
        if reason is None and table.unsized:
            reason, models = why_own(exact, label, table.prefer, table.given), list(exact)
    models.sort(key=lambda one: (own_size(*one), one[0] is not exact[0][0]))
    return None if reason is None else (reason, tuple(_recipe(*one, own_size(*one)) for one in models))


def _without(
    label: LabelParts, side: int | None, found: _Found, close: tuple[str, ...], table: TableSays
) -> ModelGuess:
    """Return why a label that is not the name of one model has none, and the names that it may stand for."""
    if label.changed:
        part = _with(Confidence.EXACT, _find(label.base, side, table)[1]) if label.base else []
        known = tuple(_recipe(*one, side) for one in part)
        return ModelGuess(None, None, "the label names something that is added to a model", (), known)
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


def _find(label: str, size: int | None, table: TableSays) -> tuple[str, _Found]:
    """Return a label and what is known of it, or of both after a family in the heading: CaiT-xxs-24 for xxs-24."""
    found = _first(label, size, table)
    if any(found.values()):
        return label, found
    headed = ((name, _first(name, size, table)) for name in (f"{family}-{label}" for family in table.headed))
    return next((one for one in headed if any(one[1].values())), (label, found))


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


def _why_no_width(exact: Sequence[Named]) -> str | None:
    """Return why a label of one library's model is not all of a name: another has it in widths, as mobilenetv2_140."""
    for library in set(_LIBRARIES) - {library for library, _ in exact}:
        heads = (name.rpartition("_") for name in current_models(library) if size_in_name(library, name) is None)
        if any(width.isdigit() and _bare(head) == _bare(exact[0][1]) for head, _, width in heads):
            return f"the label gives no width, and {library} has this model in several"
    return None


def _why_more_names(label: str, side: int | None, exact: Sequence[Named]) -> str | None:
    """Return why a label of one library's model is not all of a name: another has several, as windows of 8 and 16."""
    for library in set(_LIBRARIES) - {library for library, _ in exact}:
        names = [one for spelt in spellings(label) for one in names_of_all_sizes(spelt, library)]
        fitting = [one for one in dict.fromkeys(names) if side in (None, own_size(library, one))]
        if len({re.sub(r"\d+$", "", one) for one in fitting}) > 1:
            return f"{library} has several models of this name: {list_some(fitting)}"
    return None


def _bare(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _recipe(library: Library, name: str, side: int | None) -> str:
    if side is None and own_size(library, name) != USUAL_SIZE:
        side = own_size(library, name)
    if side is None or side == size_in_name(library, name):
        return f"{{{library}: {name}}}"
    return f"{{{library}: {name}, image: {side}}}"
