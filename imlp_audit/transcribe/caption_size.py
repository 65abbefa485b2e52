"""The size of the images that a caption gives, and the rows that it excepts from it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from imlp_audit.models.names.words import SIZE_WORDS
from imlp_audit.transcribe.sentences import sentences_in
from imlp_audit.transcribe.sides import find_size

_EXCEPTS = re.compile(r"\b(?:except\w*|excluding|apart from|other than|unless|but for|aside from)\b", re.IGNORECASE)
_OTHERS = re.compile(
    r"\b(?:all|any|every|the)\s+others?\b(?!\s+(?:\w+\s+)?(?:settings?|hyper\w*|details?|options?|configurations?|things))"
    r"|\bothers\b|\b(?:the|all)\s+(?:rest|remaining)\b",
    re.IGNORECASE,
)
_OF_IMAGES = re.compile(r"\b(?:resolutions?|images?|inputs?|sizes?|pixels?|crops?)\b|\d\s*[×x]\s*\d", re.IGNORECASE)
_AS_MARKED = re.compile(  # by what stands in the label
    r"\b(?:except|unless)\b(?:\s+\w+){0,3}?\s+(?:otherwise|noted|stated|marked|specified|mentioned|indicated|denoted)\b",
    re.IGNORECASE,
)
_NOT_IN_LABEL = re.compile(
    r"\b(?:bold\w*|gr[ae]y\w*|colou?r\w*|italics?|underlined?|shad\w+|blue|red|green)\b", re.IGNORECASE
)


@dataclass(frozen=True)
class CaptionSize:
    """The side of the images that a caption gives for its rows, and what it says of each label that it excepts."""

    side: int | None
    excepted: Mapping[str, str] = field(default_factory=dict)

    def doubt(self, label: str) -> str | None:
        """Return why the images of a label's row may be of another size than those of the other rows."""
        said = self.excepted.get(label)
        return (
            f"the caption says {said!r}, so the row's images may be of another size: give the row its own"
            if said
            else None
        )


def read_caption_size(caption: str, labels: Sequence[str]) -> CaptionSize:
    """Return the size that a caption gives to the rows that it does not except; none where these are not known."""
    side = find_size(caption)
    excepted: dict[str, str] = {}
    for sentence, context in _exceptions(caption):
        named = [label for label in labels if _names(context, label)]
        if not named and find_size(sentence) is not None:
            side = None
        excepted |= dict.fromkeys(named, sentence)
    return CaptionSize(side, excepted)


def _exceptions(caption: str) -> Iterator[tuple[str, str]]:
    """Yield the sentences that except rows from a size of images, each with the text that may name these rows."""
    for before, sentence in pairwise(["", *sentences_in(caption)]):
        excepts = _EXCEPTS.search(sentence) is not None
        marked = _AS_MARKED.search(sentence) and not _NOT_IN_LABEL.search(sentence)
        if (excepts or _OTHERS.search(sentence)) and _OF_IMAGES.search(sentence) and not marked:
            yield sentence, sentence if excepts else f"{before}. {sentence}"


def _names(text: str, label: str) -> bool:
    """Return whether a text has a word of a label that names its family, as "DeiTs" for DeiT-S."""
    words = {word.rstrip("vV") for word in re.findall(r"[^\W\d_]{3,}", label) if word.lower() not in SIZE_WORDS}
    return any(re.search(rf"(?<![^\W\d_]){re.escape(one)}(?:s|v)?(?![^\W\d_])", text, re.IGNORECASE) for one in words)
