"""The systems of papers: every model that their tables list or their texts describe, with its size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain

from imlp_audit.checks.context import Conventions
from imlp_audit.errors import UsageError
from imlp_audit.measure.conventions import FLOPS_CONVENTIONS, ParameterConvention, total
from imlp_audit.measure.facts import Failure, ModelFacts, ModelKey, Need
from imlp_audit.models.recipe import Recipe
from imlp_audit.records.check import Source
from imlp_audit.spec.library import Selection
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.references import rows_of


@dataclass(frozen=True)
class Use:
    """One place that has a model: what it calls it, the id of the row, or of the system, there, and its file."""

    label: str
    id: str
    file: str
    recipe: Recipe
    key: ModelKey


@dataclass(frozen=True)
class System:
    """A model and the places that have it; `failure` says why it could not be counted."""

    label: str
    recipe: Recipe
    places: tuple[str, ...]
    parameters: int | None = None
    macs: int | None = None
    failure: str | None = None


def systems(
    selection: Selection, only: Sequence[str], skip: Sequence[str], announce: Callable[[int], Callable[[str], None]]
) -> list[System]:
    """Measure every model of the papers once, each under its paper's default reading, in the papers' order.

    `only` and `skip` are globs of the ids of rows and systems. Raises UsageError where they leave nothing.
    """
    from imlp_audit.measure.models import measure_models  # torch takes seconds to import: not before the specs are read

    uses: dict[ModelKey, list[Use]] = {}
    for use in chain.from_iterable(map(_uses, selection.papers)):
        files = selection.only_files.get(use.id.partition("/")[0])
        chosen = (not only or _matches(use.id, only)) and not _matches(use.id, skip)
        if chosen and (not files or use.file in files):
            uses.setdefault(use.key, []).append(use)
    if not uses:
        raise UsageError("no model is left; give globs of rows such as 'imlp/1/*', or of 'imlp/systems/*'")
    progress = announce(len(uses))
    facts = measure_models(dict.fromkeys(uses, Need(work=True)), progress)
    return [_system(found, facts[key]) for key, found in uses.items()]


def _matches(name: str, globs: Sequence[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


def _uses(paper: Paper) -> Iterator[Use]:
    reading = next(iter(Conventions(paper.about.value).readings.values()))

    def used(label: str, name: str, place: Source, recipe: Recipe) -> Use:
        return Use(label, name, place.file, recipe, ModelKey.of(recipe, reading))

    for row in rows_of(paper):
        if row.row.model is not None:
            yield used(row.full_label, row.id, row.table.source(), row.row.model)
    for system in paper.systems:
        yield used(system.value.label, f"{paper.id}/systems/{system.value.id}", system.source(), system.value.model)


def _system(uses: list[Use], facts: ModelFacts | Failure) -> System:
    first = uses[0]
    places = tuple(use.id for use in uses)
    if isinstance(facts, Failure):
        return System(first.label, first.recipe, places, failure=facts.message)
    assert facts.ledger is not None, "work was asked for"
    if facts.ledger.unknown:
        return System(first.label, first.recipe, places, failure=f"no formula counts {', '.join(facts.ledger.unknown)}")
    macs = total(facts.ledger, FLOPS_CONVENTIONS["macs"])
    return System(first.label, first.recipe, places, facts.parameters[ParameterConvention.ALL], macs)
