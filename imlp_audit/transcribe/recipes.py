"""Models of libraries as a recipe writes them: those that a row gets, and those that a comment proposes."""

from __future__ import annotations

from collections.abc import Iterable

from imlp_audit.models.names.known import USUAL_SIZE, own_size, size_in_name, takes_size
from imlp_audit.models.names.match import lost_words, names_of_all_windows, spellings
from imlp_audit.transcribe.image_sizes import Named


def write_recipe(model: Named, side: int | None) -> str:
    """Return the recipe of a model for images of a size; None is the model's own."""
    library, name = model
    side = own_size(library, name) if side is None and own_size(library, name) != USUAL_SIZE else side
    if side is None or side == size_in_name(library, name):
        return f"{{{library}: {name}}}"
    return f"{{{library}: {name}, image: {side}}}"


def propose(models: Iterable[Named], side: int | None, label: str) -> tuple[str, ...]:
    """Return the recipes of models that a label may stand for, without those that cannot be built for the images.

    A name that ends in another size gives way to that of this size, unless the label itself has the name's size.
    """
    found = dict[str, None]()
    for library, name in models:
        size = size_in_name(library, name)
        if side is None or size == side or str(size) in label:
            found[write_recipe((library, name), None)] = None
            continue
        sized = [one for one in names_of_all_windows(name, library) if size_in_name(library, one) == side]
        model = (library, sized[0] if sized else name)
        found[write_recipe(model, side if takes_size(*model, side) else None)] = None
    return tuple(found)


def propose_near(models: Iterable[Named], side: int | None, label: str) -> tuple[str, ...]:
    """Return the recipes of models whose names lack a part of a label, each with a comment that says which."""
    found = dict[str, None]()
    for model in models:
        lost = min([lost_words(one, model[1]) for one in reversed(spellings(label))], key=len)
        comment = f"  # without {', '.join(map(repr, lost))} of the label" if lost else ""
        for recipe in propose([model], side, label):
            found[recipe + comment] = None
    return tuple(found)
