"""Why a label that is a model's name may still stand for another model, and for which."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from imlp_audit.models.change import write_value
from imlp_audit.models.names.known import (
    USUAL_SIZE,
    Library,
    current_models,
    former_meaning,
    has_auxiliary_heads,
    has_bottlenecks,
    has_branches,
    namesake,
    own_size,
    resembles,
    size_in_name,
    takes_size,
)
from imlp_audit.models.names.match import names_of_all_sizes, spellings
from imlp_audit.numbers.forms import NumberForm, parse_printed
from imlp_audit.numbers.printed import Printed, Rounding
from imlp_audit.numbers.words import list_some
from imlp_audit.spec.columns import Measure
from imlp_audit.transcribe.cells import MARKS
from imlp_audit.transcribe.columns import TableColumns
from imlp_audit.transcribe.image_sizes import Given, Named, why_other
from imlp_audit.transcribe.latex.text import UNSEEN
from imlp_audit.transcribe.recipes import write_recipe
from imlp_audit.transcribe.rows import RowNumbers
from imlp_audit.transcribe.units import NOUNS

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


# By the number of layers, on images of 224: the GMACs that papers print for the first form, and what a ResNet of that
# form has exactly, in multiply-accumulates and as fvcore counts. With strides in the 3x3 convolutions these models have
# more than 4.0, 7.7 and 11.4.
_FIRST = {
    "50": (3.7, 4.0, (3_857_973_248, 3_879_247_872)),
    "101": (7.4, 7.7, (7_570_194_432, 7_601_704_960)),
    "152": (11.2, 11.4, (11_282_415_616, 11_326_570_496)),
}
_LAYERS = re.compile(r"(?:legacy_|se)*resnex?t(\d+).*")


def printed_flops(numbers: RowNumbers, columns: TableColumns) -> Printed | None:
    """Return the FLOPs that a row prints first; None without any, or for images of another size than 224."""
    for at, guess in columns.numbers:
        text = numbers.printed.get(columns.slugs[at])
        if guess.measure is Measure.FLOPS and text is not None:
            usual = columns.sizes[columns.slugs[at]] in (None, USUAL_SIZE)
            return parse_printed(text, NumberForm(guess.unit, nouns=NOUNS)) if usual else None
    return None


def in_first_form(model: Named, side: int | None, flops: Printed | None) -> tuple[str, tuple[str, ...]] | None:
    """Return why a ResNet may be meant as it was published first, and both forms; None where no FLOPs say so."""
    layers = _LAYERS.fullmatch(model[1])
    least, most, counts = _FIRST.get(layers[1] if layers else "", (0, 0, ()))
    if not has_bottlenecks(*model) or flops is None or side not in (None, USUAL_SIZE):
        return None
    if not least * 10**9 <= flops.value * flops.scale < most * 10**9:
        return None
    recipe = write_recipe(model, side)
    same = model[1] in _PLAIN and any(one in flops.interval(rule) for one in counts for rule in _RULES)
    strides = f"with strides in its 1x1 convolutions (stride_in_1x1); {model[0]} has them in the 3x3 ones"
    near = "the printed FLOPs are less than this model has, and may be those of its first form"
    reason = f"the printed FLOPs are those of its first form, {strides}" if same else f"{near}, {strides}"
    return reason, (f"{recipe[:-1]}, stride_in_1x1: true}}", recipe)


_PLAIN = frozenset({"resnet50", "resnet101", "resnet152"})
_RULES = (Rounding.HALF_UP, Rounding.TRUNCATION)


LIBRARIES = (Library.TIMM, Library.TORCHVISION)


def join_reasons(*reasons: str | None) -> str | None:
    """Return reasons as one, each of which would be enough; None without any."""
    return "; and ".join(filter(None, reasons)) or None


_WITH_MORE = (
    re.compile(r"(?P<name>.*\S)\s*(?P<more>[(\[][^()\[\]]*[)\]])"),
    re.compile(r"(?P<more>\S+)\s+(?P<name>.+)"),
    re.compile(r"(?P<name>.+)\s+(?P<more>\S+)"),
)


def split_name(label: str) -> tuple[str, str]:
    """Return a word or a bracket at an end of a label, and the rest if it is a name; ("", label) otherwise."""
    for pattern in _WITH_MORE:
        found = pattern.fullmatch(label)
        if found is not None and any(
            names_of_all_sizes(spelt, one) for spelt in spellings(found["name"]) for one in LIBRARIES
        ):
            return found["more"], found["name"]
    return "", label


def why_like(model: Named) -> str | None:
    """Return that a library's model is not the paper's own, where the library's code says so."""
    library, name = model
    return f"{library} says that its {name} is only like the paper's" if resembles(library, name) else None


def _why_namesake(model: Named) -> str | None:
    """Return that a name is that of another paper's model too, of which no library has the name."""
    other = namesake(*model)
    return None if other is None else f"two papers have a model of this name, and the row's may be of {other}"


def why_another(exact: Sequence[Named], label: str, side: int | None, prefer: Library | None) -> str | None:
    """Return why a label that is a model's name may stand for another model."""
    library, name = exact[0]
    if label == name:
        return why_other(exact[0], side, label)
    reason = why_like(exact[0]) or _why_namesake(exact[0]) or why_other(exact[0], side, label)
    if reason is not None or library is prefer:
        return reason
    return _why_no_width(exact) or _why_more_names(label, side, exact)


def _why_no_width(exact: Sequence[Named]) -> str | None:
    """Return why a label of one library's model is not all of a name: another has it in widths, as mobilenetv2_140."""
    for library in set(LIBRARIES) - {library for library, _ in exact}:
        heads = (name.rpartition("_") for name in current_models(library) if size_in_name(library, name) is None)
        if any(width.isdigit() and _bare(head) == _bare(exact[0][1]) for head, _, width in heads):
            return f"the label gives no width, and {library} has this model in several"
    return None


def _why_more_names(label: str, side: int | None, exact: Sequence[Named]) -> str | None:
    """Return why a label of one library's model is not all of a name: another has several, as windows of 8 and 16."""
    for library in set(LIBRARIES) - {library for library, _ in exact}:
        names = [one for spelt in spellings(label) for one in names_of_all_sizes(spelt, library)]
        fitting = [one for one in dict.fromkeys(names) if side in (None, own_size(library, one))]
        if len({re.sub(r"\d+$", "", one) for one in fitting}) > 1:
            return f"{library} has several models of this name: {list_some(fitting)}"
    return None


def _bare(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def two_models(model: Named, label: str, side: int | None, flops: Printed | None) -> tuple[str, tuple[str, ...]] | None:
    """Return why a name stands for two models, and both: of two forms, or under a name that meant another before."""
    library, name = model
    if has_auxiliary_heads(library, name):
        return _without_and_with_heads(model, side)
    if label == name:
        return None
    recipe = write_recipe(model, side)
    if has_branches(library, name):
        reason = (
            "it is trained with branches that are merged for inference, and the paper may count either form; `verify` "
            "says if the other one is as printed"
        )
        return reason, (f"{recipe[:-1]}, form: deployed}}", recipe)
    former = former_meaning(library, name)
    if former is not None:
        image = f", image: {side}" if side is not None and side != own_size(library, name) else ""
        reason = f"{library}'s former {name} was another model, and papers count either"
        return reason, (recipe, f"{{{library}: {write_value(former)}{image}}}")
    return in_first_form(model, side, flops)


def _without_and_with_heads(model: Named, side: int | None) -> tuple[str, tuple[str, ...]]:
    """Return why a model with auxiliary classifiers is open, and it without them and with them."""
    library, name = model
    reason = (
        "it is trained with auxiliary classifiers, and the paper may count it without them or with them; `verify` says "
        "if the other one is as printed"
    )
    built = write_recipe((Library.TORCHVISION, name), side)
    if library is Library.TIMM:
        return reason, (write_recipe(model, side), built)
    return reason, (built.replace(name, f"{{architecture: {name}, arguments: {{aux_logits: false}}}}"), built)


def why_unfit(model: Named, side: int | None) -> str | None:
    """Return why a model is not the row's: its library cannot build it for the row's images."""
    library, name = model
    if side is None or takes_size(library, name, side):
        return None
    return f"{library} cannot build its {name} for images of {side}"
