"""The systems of papers: every model that their tables list or their texts describe, with its size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain
from typing import TypeAlias

from imlp_audit.checks.context import Conventions
from imlp_audit.count.conventions import FLOPS_CONVENTIONS, ParameterConvention, total
from imlp_audit.count.facts import Facts, Failure, ModelFacts, ModelKey, Need
from imlp_audit.count.outside import is_outside, measure_outside
from imlp_audit.errors import UsageError
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.interval import readable
from imlp_audit.records.check import Source
from imlp_audit.records.listing import ListedModel, ModelList
from imlp_audit.report.document import Align, Document, Heading, Item, List, Table, code
from imlp_audit.spec.library import Selection
from imlp_audit.spec.paper import Paper, rows_of


@dataclass(frozen=True)
class SystemUse:
    """One place that has a model: its label there, the id of the row or system, and its file."""

    label: str
    id: str
    file: str
    recipe: Recipe
    key: ModelKey


Measurer: TypeAlias = Callable[[Mapping[ModelKey, Need], Callable[[str], None]], Facts]


def list_systems(
    selection: Selection,
    only: Sequence[str],
    skip: Sequence[str],
    announce: Callable[[int], Callable[[str], None]],
    measurer: Measurer | None = None,
) -> ModelList:
    """Measure every model of the papers once, each under its paper's default reading, in the papers' order.

    `only` and `skip` are globs of the ids of rows and systems. Raises UsageError if they leave nothing. `measurer`
    replaces `measure_models`.
    """
    uses: dict[ModelKey, list[SystemUse]] = {}
    for use in chain.from_iterable(map(_uses, selection.papers)):
        part = selection.part(use.id.partition("/")[0])
        selected = (not only or _matches(use.id, only)) and not _matches(use.id, skip)
        if selected and part.touches_row(use.id, use.file):
            uses.setdefault(use.key, []).append(use)
    if not uses:
        raise UsageError("no model is left; give globs of rows such as 'imlp/1/*', or of 'imlp/systems/*'")
    progress = announce(len(uses))
    facts = (measurer or _measure)(dict.fromkeys(uses, Need(work=True)), progress)
    return ModelList(models=tuple(_listed_model(places, facts[key]) for key, places in uses.items()))


def _measure(needed: Mapping[ModelKey, Need], progress: Callable[[str], None]) -> Facts:
    from imlp_audit.count.models import measure_models  # torch takes seconds to import: not before the specs are read

    ours = {key: need for key, need in needed.items() if not is_outside(key)}
    others = {key: need for key, need in needed.items() if is_outside(key)}
    return {**dict(measure_models(ours, progress)), **dict(measure_outside(others, progress))}


def _matches(name: str, globs: Sequence[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


def _uses(paper: Paper) -> Iterator[SystemUse]:
    reading = next(iter(Conventions(paper.about.value).readings.values()))

    def use(label: str, name: str, place: Source, recipe: Recipe) -> SystemUse:
        return SystemUse(label, name, place.file, recipe, ModelKey.of(recipe, reading))

    for row in rows_of(paper):
        if row.row.model is not None:
            yield use(row.full_label, row.id, row.table.source(), row.row.model)
    for system in paper.systems:
        yield use(system.value.label, f"{paper.id}/systems/{system.value.id}", system.source(), system.value.model)


def _listed_model(uses: Sequence[SystemUse], facts: ModelFacts | Failure) -> ListedModel:
    first = uses[0]
    model = ListedModel(label=first.label, recipe=str(first.recipe), places=tuple(use.id for use in uses))
    if isinstance(facts, Failure):
        return model.model_copy(update={"failure": facts.message})
    if facts.ledger is None:
        raise ValueError(f"the work of {first.recipe.name} was requested but not measured")
    if facts.ledger.unknown:
        return model.model_copy(update={"failure": f"no formula counts {', '.join(facts.ledger.unknown)}"})
    macs = total(facts.ledger, FLOPS_CONVENTIONS["macs"])
    return model.model_copy(update={"parameters": facts.parameters[ParameterConvention.ALL], "macs": macs})


def systems_document(listed: ModelList) -> Document:
    """List models with their sizes, how they are built, and the tables that have them."""
    counted = [model for model in listed.models if model.failure is None]
    failed = [model for model in listed.models if model.failure is not None]
    header = ("parameters", "multiply-accumulates", "model", "recipe", "tables")
    rows = tuple(
        (
            readable(model.parameters or 0),
            readable(model.macs or 0),
            model.label,
            code(model.recipe),
            ", ".join(_tables(model)),
        )
        for model in counted
    )
    align = (Align.RIGHT, Align.RIGHT, Align.LEFT, Align.LEFT, Align.LEFT)
    document: Document = (Table(header, rows, align),) if rows else ()
    if failed:
        items = (
            Item((f"{model.label}, ", code(model.recipe), f", {', '.join(_tables(model))}: {model.failure}"))
            for model in failed
        )
        document += (Heading("Not counted", 2), List(tuple(items)))
    return document


def _tables(model: ListedModel) -> Iterator[str]:
    """Return the tables that have a model, each once."""
    return iter(dict.fromkeys("/".join(place.split("/")[:2]) for place in model.places))
