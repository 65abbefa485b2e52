"""What a table says about the models of all its rows: what they were tested on, its marks, its families, its images."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from imlp_audit.models.names.known import Library
from imlp_audit.transcribe.cells import MARKS
from imlp_audit.transcribe.image_sizes import Given
from imlp_audit.transcribe.latex.text import UNSEEN

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
