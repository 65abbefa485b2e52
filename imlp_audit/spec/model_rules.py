"""What is wrong with models in a spec as far as their names, arguments and readings show it; none is built."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from imlp_audit.errors import Problem, did_you_mean
from imlp_audit.models.available_hosts import Timm, Torchvision
from imlp_audit.models.names.known import Library, known_models, version_of
from imlp_audit.models.own import OwnBlock, find_missing_name, find_wrong_argument
from imlp_audit.models.readings import OwnFamily, axis_of
from imlp_audit.models.recipe import Recipe
from imlp_audit.spec.paper import Paper, RowRef, models_of, own_block, own_families
from imlp_audit.spec.schema import Choice
from imlp_audit.spec.tree import Located

_SIZES = ("in_features", "hidden_features", "out_features", "use_conv")
"""What a block is given of the MLP that it replaces, where it takes it."""


def unanswered_models(paper: Paper) -> Iterator[Problem]:
    """Yield the models that leave something open that not every reading of the paper answers."""
    readings = {name: named.reading() for name, named in paper.about.value.readings.items()}
    for recipe, owner in models_of(paper):
        if recipe.family is None or isinstance(recipe.family, OwnFamily):  # whose axes have defaults under any reading
            continue
        silent = next((name for name, reading in readings.items() if recipe.part_of(reading) is None), None)
        if not readings:
            message = f"{recipe.family.models} needs a reading: name at least one under about: readings:"
            yield owner.problem(message, "model")
        elif silent is not None:
            message = f"{recipe.family.models} needs a reading, and {silent!r} has none of its axes"
            yield owner.problem(message, "model")


def unknown_models(paper: Paper) -> Iterator[Problem]:
    """Yield a problem for each name of a model that its library does not have.

    An installed library of another version than our list may have others: then only its own word counts.
    """
    for recipe, owner in models_of(paper):
        if (complaint := complaint_about(recipe)) is not None:
            yield owner.problem(complaint, "model")


def complaint_about(recipe: Recipe) -> str | None:
    """Return what is wrong with the name of a recipe's model, None if its library has it."""
    match recipe.host:
        case Timm(architecture=name):
            library = Library.TIMM
        case Torchvision(architecture=name):
            library = Library.TORCHVISION
        case _:
            return None
    if name.partition(".")[0] in known_models(library) or _is_another_version(library):
        return None
    from imlp_audit.models.names.match import suggest  # a name that is right needs no hint

    hint = suggest(name, library) or f"see the models of {library}"
    return f"{library} {version_of(library)} has no model {name!r}; {hint}"


def _is_another_version(library: Library) -> bool:
    try:
        return version(str(library)).partition("+")[0] != version_of(library).partition("+")[0]
    except PackageNotFoundError:
        return False


def wrong_code(paper: Paper) -> Iterator[Problem]:
    """Yield a problem for each model whose class or function is missing in its file, or takes other `arguments`."""
    for recipe, owner in models_of(paper):
        for code in recipe.codes:
            if code.beside is None:
                continue
            path = ("model", "mlp", "python") if isinstance(code, OwnBlock) else ("model", "python")
            if (missing := find_missing_name(code.beside, code.file, code.name)) is not None:
                yield owner.problem(missing, *path)
                continue
            ours = (*_SIZES, *code.axes) if isinstance(code, OwnBlock) else ()
            wrong = find_wrong_argument(code.beside, code.file, code.name, code.arguments, ours)
            if wrong is not None:
                yield owner.problem(wrong, *path, *(("arguments",) if code.arguments else ()))


def broken_blocks(paper: Paper) -> Iterator[Problem]:
    """Yield a problem for each block that has the name of another, and for what readings say about no axis."""
    files: dict[str, str] = {}
    owner: RowRef | Located[Any]
    for recipe, owner in models_of(paper):
        block = own_block(recipe)
        if block is not None and files.setdefault(block.name, block.file) != block.file:
            other = f"the block of {files[block.name]} is called {block.name} too"
            message = f"{other}, and readings go by the name; rename one"
            yield owner.problem(message, "model", "mlp", "python", "name")
    families: dict[str, OwnFamily] = {}
    for family in own_families(paper):
        families.setdefault(family.name, family)
    for name, reading in paper.about.value.readings.items():
        for block_name, choices in reading.blocks.items():
            path = ("readings", name, "blocks", block_name)
            if block_name not in families:
                message = f"no model has a block {block_name!r} with axes; {did_you_mean(block_name, list(families))}"
                yield paper.about.problem(message, *path)
                continue
            for below, message in _broken_choices(families[block_name], choices):
                yield paper.about.problem(message, *path, *below)


def _broken_choices(family: OwnFamily, choices: Mapping[str, Choice[str]]) -> Iterator[tuple[Sequence[str], str]]:
    """Yield each answer of a reading that names an unknown axis of a block, or an unknown value, and say why."""
    values = dict(family.axes)
    for axis, choice in choices.items():
        known = values.get(axis_of(family.name, axis))
        if known is None:
            names = [name.partition(".")[2] for name in values]
            yield (axis,), f"{family.name} has no axis {axis!r}; {did_you_mean(axis, names)}"
        elif choice.value not in known:
            yield (axis, "value"), f"{axis} is never {choice.value!r}; {did_you_mean(choice.value, known)}"
