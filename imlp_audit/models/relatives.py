"""The same model in its other form, and on other images: where a source does not say which, it may mean one of them."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import ValidationError

from imlp_audit.models.available_hosts import Timm, Torchvision
from imlp_audit.models.names.known import Library, Trait, current_models, former_meaning, has, own_size, sizes_of
from imlp_audit.models.names.match import names_of_all_windows
from imlp_audit.models.recipe import Form, Recipe


def relatives_of(recipe: Recipe) -> Iterator[Recipe]:
    """Yield the model in its other forms, as it was published first, and at the other sizes that its library has it in.

    Only for a model as its library has it: of one that was changed, nobody published another size.
    """
    found = name_in_library(recipe)
    if found is None or recipe.changes_mlps or found[1] not in current_models(found[0]):
        return
    library, name = found
    form = {"form": str(Form.TRAINING if recipe.form is Form.DEPLOYED else Form.DEPLOYED)}
    strides = {"stride_in_1x1": not recipe.stride_in_1x1} if has(Trait.BOTTLENECKS, library, name) else {}
    for change in (form, *((strides, {**form, **strides}) if strides else ())):
        yield recipe.with_change(change)
    if has(Trait.AUXILIARY_HEADS, library, name):
        yield _with_other_heads(recipe, library, name)
    former = former_meaning(library, name)
    if former is not None:
        yield recipe.with_change({str(library): former})
    side = recipe.image[0] if recipe.image is not None else own_size(library, name)
    kept = {key: value for key, value in recipe.as_written().items() if key not in (str(library), "image")}
    for size, sized in sorted(_sizes(library, name).items()):
        if size != side:
            image = {} if size == own_size(library, sized) else {"image": size}
            yield Recipe.of(**{str(library): sized}, **image, **kept)


def _with_other_heads(recipe: Recipe, library: Library, name: str) -> Recipe:
    """Return a model without its auxiliary heads, or with torchvision's, which run in training alone."""
    rest = {key: value for key, value in recipe.as_written().items() if key != str(library)}
    if isinstance(recipe.host, Torchvision) and not recipe.host.arguments:
        return Recipe.of(torchvision={"architecture": name, "arguments": {_AUXILIARY: False}}, **rest)
    return Recipe.of(torchvision=name, **rest)


_AUXILIARY = "aux_logits"
_CHANNELS = "in_chans"


def with_ends(recipe: Recipe, channels: int | None, classes: int | None) -> Recipe | None:
    """Return a library's model for images of other channels and with other classes; None keeps the model's own.

    None where the recipe says its classes itself, or its library has no such model.
    """
    if name_in_library(recipe) is None or recipe.classes is not None:
        return None
    change: dict[str, object] = {"classes": classes} if classes is not None else {}
    if channels is not None:
        if not isinstance(recipe.host, Timm):
            return None
        change["timm"] = {"architecture": recipe.host.architecture, "arguments": {_CHANNELS: channels}}
    try:
        return recipe.with_change(change)
    except ValidationError:
        return None


def name_in_library(recipe: Recipe) -> tuple[Library, str] | None:
    """Return the library of a model and its name there, without the tag of its weights.

    None where the recipe changes an argument, apart from auxiliary heads and the channels of the images.
    """
    match recipe.host:
        case Timm(architecture=name, arguments=arguments) if arguments.keys() <= {_CHANNELS}:
            return Library.TIMM, name.partition(".")[0]
        case Torchvision(architecture=name, arguments=arguments) if arguments.keys() <= {_AUXILIARY}:
            return Library.TORCHVISION, name
        case _:
            return None


def ends_of(recipe: Recipe) -> tuple[str, ...]:
    """Return the channels and the classes that a recipe states."""
    arguments = recipe.host.arguments if isinstance(recipe.host, Timm) else {}
    channels = (f"{_CHANNELS} {arguments[_CHANNELS]}",) if _CHANNELS in arguments else ()
    return (*channels, f"classes {recipe.classes}") if recipe.classes is not None else channels


def _sizes(library: Library, name: str) -> dict[int, str]:
    """Return the sizes that a library has a model for, each with its name: a Swin for 384 has another window."""
    own = dict.fromkeys(sizes_of(library, name), name)
    others = {size: one for one in names_of_all_windows(name, library) for size in sizes_of(library, one)}
    return {**others, **own}
