"""What a table says about the models of all its rows: what they were tested on, its marks, its families, its images."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from imlp_audit.models.names.known import Library
from imlp_audit.transcribe.cells import MARKS
from imlp_audit.transcribe.headings import ColumnGuess
from imlp_audit.transcribe.image_sizes import Given
from imlp_audit.transcribe.latex.text import UNSEEN

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
        mark: text
        for mark, text in explained
        if mark != UNSEEN and said[mark] == 1 and _ORIGIN.search(text) and not _MORE.search(text)
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
