"""The size of the images that a row's FLOPs are of: what a source says, and why it may leave the model open."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from typing import TypeAlias

from imlp_audit.models.names.known import USUAL_SIZE, Library, own_size, scaled_sizes, size_in_name, takes_size
from imlp_audit.models.names.match import SIZE_WORDS, names_of_all_sizes, spellings
from imlp_audit.transcribe.counters import sentences_in
from imlp_audit.transcribe.sides import find_size, side_of

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
        named = [label for label in labels if _excepted_names(context, label)]
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


def _excepted_names(text: str, label: str) -> bool:
    """Return whether a text has a word of a label that names its family, as "DeiTs" for DeiT-S."""
    words = {word.rstrip("vV") for word in re.findall(r"[^\W\d_]{3,}", label) if word.lower() not in SIZE_WORDS}
    return any(re.search(rf"(?<![^\W\d_]){re.escape(one)}(?:s|v)?(?![^\W\d_])", text, re.IGNORECASE) for one in words)


Named: TypeAlias = tuple[Library, str]
"""A library and the name of one of its models."""


class OwnSize(Enum):
    """That each model is counted on images of its own size in its library."""

    OWN = "own"


Given: TypeAlias = int | OwnSize | None
"""What a person says about rows of which the source gives no size; None where nobody says anything."""


def models_of_all_sizes(label: str, libraries: Sequence[Library]) -> list[Named]:
    """Return the models of a label where a library has it under a name for each of several sizes of images."""
    for spelt in spellings(label):
        found = [(library, name) for library in libraries for name in names_of_all_sizes(spelt, library)]
        if any(len({own_size(*one) for one in found if one[0] is library}) > 1 for library in libraries):
            return found
    return []


def why_several(models: Sequence[Named]) -> str:
    """Return why a model of several sizes is open, for a row of which the source gives none."""
    sizes = sorted({own_size(*one) for one in models})
    return (
        f"nothing gives the size of the images, and this model was published for {_list(sizes)}: "
        f"write the spec with --image {sizes[0]}, or give the row one"
    )


def published(models: Sequence[Named]) -> list[Named]:
    """Return timm's names of the EfficientNets that their authors trained, where these are of other sizes of images.

    EfficientNet-B2 is of 260 in its paper (arXiv 1905.11946, its authors' code) and of 256 in timm.
    """
    ported = [(Library.TIMM, f"tf_{name}") for _, name in models if re.fullmatch(r"efficientnet_b\d", name)]
    sizes = {own_size(*one) for one in models}
    return [one for one in dict.fromkeys(ported) if own_size(*one) not in sizes]


def _list(sizes: Sequence[int | str]) -> str:
    *first, last = map(str, sizes)
    return f"{', '.join(first)} and {last}" if first else last


def is_sized(model: Named, label: str) -> bool:
    """Return whether a model's name ends in an unusual size that a label leaves out, and takes the usual one too.

    As cait_s36_384 for CaiT-S36: its paper has it for 224 too, with fewer positions.
    """
    size = size_in_name(*model)
    return size not in (None, USUAL_SIZE) and str(size) not in label and takes_size(*model, USUAL_SIZE)


def sides_to_propose(model: Named, label: str, given: Given) -> tuple[int, ...]:
    """Return the sizes of images that an open row's only model may be of, the usual one or that of its tests first."""
    if not is_sized(model, label):
        return scaled_sizes(*model)[::-1]
    return given if isinstance(given, int) else USUAL_SIZE, own_size(*model)


def why_own(exact: Sequence[Named], label: str, prefer: Library | None, given: Given) -> str | None:
    """Return why the size of the images must be given, where the libraries' own sizes do not settle it."""
    meant = exact[:1] if exact[0][0] is prefer else [*exact, *published(exact)]
    sizes = {own_size(*one): f"in {one[0]}" if one in exact else f"as {one[1]}" for one in meant}
    if len(sizes) > 1:
        listed = _list([f"{size} {where}" for size, where in sizes.items()])
        return f"the table gives no size of images, and this model was published for {listed}"
    library, name = exact[0]
    size = own_size(library, name)
    if str(size) not in label and (scaled := why_scaled(exact)):
        return scaled
    if size == USUAL_SIZE or str(size) in label or given is OwnSize.OWN:
        return None
    if library is prefer and size_in_name(library, name) is None:
        return None
    return f"the table gives no size of images, and {library} has this model for {size} alone"


def why_not_for_all(exact: Sequence[Named], size: int) -> str | None:
    """Return why a size that was given for all rows may not be that of a model: its own is another and not usual."""
    sizes = sorted({own_size(*one) for one in (*exact, *published(exact))})
    scaled = why_scaled(exact)
    if scaled is not None:
        return scaled
    if size in sizes or USUAL_SIZE in sizes:
        return None
    listed = _list(sizes)
    return f"images of {size} are given for all rows, and this model was published for {listed}: give the row its size"


def why_scaled(exact: Sequence[Named]) -> str | None:
    """Return why a model has no one size: it is scaled together with its images, and tested on larger ones."""
    if len(exact) > 1 or len(scaled_sizes(*exact[0])) == 1:
        return None
    trained, tested = scaled_sizes(*exact[0])
    return (
        f"{exact[0][0]} has this model trained on images of {trained} and tested on {tested}, and papers count either: "
        "give the row its size"
    )


_END = re.compile(r"(?P<name>.*[^\W_])[-_ /]+(?P<side>\d{3,4})")


def split_size(label: str) -> tuple[str, int | None]:
    """Return a label without the size of images at its end, and that size: of Swin-B-384, but not of RegNetX-320."""
    found = _END.fullmatch(label)
    if found is None:
        return label, None
    side = side_of(found["side"])
    in_name = any(size_in_name(*one) != side for one in _names(label))  # as in ResNet-152
    return (found["name"], side) if side is not None and not in_name and _names(found["name"]) else (label, None)


def _names(label: str) -> list[Named]:
    libraries = (Library.TIMM, Library.TORCHVISION)
    return [(one, name) for spelt in spellings(label) for one in libraries for name in names_of_all_sizes(spelt, one)]


def why_other(model: Named, side: int | None, label: str) -> str | None:
    """Return why the size of the images is not known, where the label gives another than the table does."""
    said = size_in_name(*model)
    if said is None or side in (None, said) or not re.search(rf"(?<!\d){said}(?!\d)", label):
        return None
    return f"the label gives images of {said}, and the table of {side}"
