"""Names of models that no library knows, found without importing one."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from imlp_audit.errors import Problem
from imlp_audit.models.hosts import Timm, Torchvision
from imlp_audit.models.names.known import Library, known_models, version_of
from imlp_audit.models.recipe import Recipe
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.references import rows_of


def unknown_models(paper: Paper) -> Iterator[Problem]:
    """Yield a problem for each name of a model that its library does not have.

    An installed library of another version than our list may have others: then only its own word counts.
    """
    for row in rows_of(paper):
        if row.row.model is not None and (complaint := complaint_about(row.row.model)) is not None:
            yield row.table.problem(complaint, "rows", row.index, "model")
    for system in paper.systems:
        if (complaint := complaint_about(system.value.model)) is not None:
            yield system.problem(complaint, "model")


def complaint_about(recipe: Recipe) -> str | None:
    """Return what is wrong with the name of a recipe's model, None if its library has it."""
    match recipe.host:
        case Timm(architecture=name):
            library = Library.TIMM
        case Torchvision(architecture=name):
            library = Library.TORCHVISION
        case _:
            return None
    known = known_models(library)
    if name.partition(".")[0] in known or _is_another_version(library):
        return None
    from imlp_audit.models.names.suggest import suggest  # a name that is right needs no hint

    hint = suggest(name, library) or f"see the models of {library}"
    return f"{library} {version_of(library)} has no model {name!r}; {hint}"


def _is_another_version(library: Library) -> bool:
    """Return whether the installed library is another version than our list is of."""
    try:
        return version(str(library)).partition("+")[0] != version_of(library).partition("+")[0]
    except PackageNotFoundError:
        return False
