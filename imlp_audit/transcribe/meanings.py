"""Why a label that is a model's name may still stand for another model, and for which."""

from __future__ import annotations

import re
from collections.abc import Sequence

from imlp_audit.models.change import write_value
from imlp_audit.models.names.known import (
    Library,
    current_models,
    former_meaning,
    has_auxiliary_heads,
    has_branches,
    namesake,
    own_size,
    resembles,
    size_in_name,
    takes_size,
)
from imlp_audit.models.names.match import names_of_all_sizes
from imlp_audit.models.names.spelling import spellings
from imlp_audit.numbers.printed import Printed
from imlp_audit.numbers.words import list_some
from imlp_audit.transcribe.first_form import in_first_form
from imlp_audit.transcribe.image_sizes import Named, why_other
from imlp_audit.transcribe.recipes import write_recipe

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
