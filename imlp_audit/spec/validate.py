"""From a tree of text to records, every error at its place in words an author can use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import chain
from typing import TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from imlp_audit.errors import Problem, did_you_mean
from imlp_audit.models.available_hosts import ARCHITECTURE, CLASSIFIER, HOSTS
from imlp_audit.models.names.known import Library, known_models
from imlp_audit.models.own import SpecFolder
from imlp_audit.models.recipe import Recipe
from imlp_audit.records.base import write_complaint
from imlp_audit.spec.fields import FORMS, MAPPING, TEXT
from imlp_audit.spec.schema import About
from imlp_audit.spec.tree import SpecText, mark_at, plain

Model = TypeVar("Model", bound=BaseModel)

_NOT_IN_THE_TREE = frozenset({"[key]", TEXT, MAPPING})  # steps of pydantic's own
_OF_RECIPES = frozenset({"host", "architecture"})  # fields of records that a spec does not write as keys


def validate(
    file: SpecText, model: type[Model], folder: SpecFolder | None = None
) -> tuple[Model | None, list[Problem]]:
    """Return the file's record, or its problems; models of one's own are in the folder."""
    try:
        return model.model_validate(plain(file.tree), context=folder), []
    except ValidationError as error:
        details = [_as_in_the_tree(detail) for detail in error.errors(include_url=False)]
        problems = [_problem(file, model, detail) for detail in details if not _follows(detail, details)]
        return None, list(dict.fromkeys(problems))


def _as_in_the_tree(detail: ErrorDetails) -> ErrorDetails:
    """Return the error at its place in the file, where a recipe's host stands under a key of its own."""
    above, last = detail["loc"][:-1], detail["loc"][-1:]
    kept = last if detail["type"] == "missing" else tuple(step for step in last if step not in _OF_RECIPES)
    return {**detail, "loc": (*(step for step in above if step not in _OF_RECIPES), *kept)}


def _follows(detail: ErrorDetails, details: Sequence[ErrorDetails]) -> bool:
    """Say whether a list is only too short because something in it is wrong, or a key missing that is misspelt."""
    place = detail["loc"]
    if detail["type"] == "missing":
        unknown = [one["loc"] for one in details if one["type"] == "extra_forbidden"]
        beside = [str(path[-1]) for path in unknown if path[:-1] == place[:-1]]
        return bool(beside if place[-1] == "host" else get_close_matches(str(place[-1]), beside))
    return detail["type"] == "too_short" and any(
        other["loc"][: len(place)] == place and other is not detail for other in details
    )


def _problem(file: SpecText, model: type[BaseModel], detail: ErrorDetails) -> Problem:
    path = tuple(step for step in detail["loc"] if step not in _NOT_IN_THE_TREE)
    is_key = detail["type"] == "extra_forbidden" or "[key]" in detail["loc"]
    return Problem(file.shown_as, *mark_at(file.tree, path, key=is_key), _message(model, detail))


def _message(model: type[BaseModel], detail: ErrorDetails) -> str:
    named = [step for step in detail["loc"] if step not in _NOT_IN_THE_TREE]
    name = str(named[-1]) if named else "the file"
    if named and isinstance(named[-1], int):
        name = f"an entry of {named[-2]}"
    if detail["type"] == "extra_forbidden":
        known = list(_fields_at(model, detail["loc"][:-1]))
        if "model" in known and name in list(Recipe.keys()):
            return f"unknown key {name!r}; it belongs in model: {{..., {name}: ...}}"
        if name in known:
            return f"{name!r} does not go with what else is given here"
        if len(detail["loc"]) == 1 and name in About.model_fields:
            return f"unknown key {name!r}; it belongs under about:"
        return f"unknown key {name!r}; {did_you_mean(name, known, 'known here')}"
    return f"{write_complaint(detail, name, FORMS)}{_host_hint(detail, name)}{_name_hint(detail)}"


def _host_hint(detail: ErrorDetails, name: str) -> str:
    """Say how a model is written whose name stands alone, if a library has it."""
    given = detail["input"]
    if name != "model" or not isinstance(given, str):
        return ""
    found = next((one for one in (Library.TIMM, Library.TORCHVISION) if given in known_models(one)), None)
    return f"; write {{{found}: {given}}}" if found is not None else ""


def _name_hint(detail: ErrorDetails) -> str:
    """Say which model of a library was meant by a label of a paper, such as DeiT-S, that is written as its name."""
    library = _NAMED_BY.get(detail.get("ctx", {}).get("pattern", ""))
    if library is None:
        return ""
    from imlp_audit.models.names.match import suggest  # a file that is right needs no hint

    hint = suggest(str(detail["input"]), library)
    return f"; {hint}" if hint is not None else ""


_NAMED_BY = {ARCHITECTURE: Library.TIMM, CLASSIFIER: Library.TORCHVISION}


def _fields_at(model: type[BaseModel], path: tuple[str | int, ...]) -> Iterator[str]:
    """Yield the keys that the record at a path may have, whichever of its kinds it is."""
    inside: Sequence[type[BaseModel]] = [model]
    for step in map(str, path):
        if step in HOSTS and any(issubclass(record, Recipe) for record in inside):
            inside = [HOSTS[step]]
            continue
        fields = [record.model_fields[step] for record in inside if step in record.model_fields]
        inside = list(dict.fromkeys(one for field in fields for one in _records_in(field.annotation))) or inside
    keys = (Recipe.keys() if issubclass(record, Recipe) else record.model_fields for record in inside)
    yield from dict.fromkeys(chain.from_iterable(keys))


def _records_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _records_in(argument)
