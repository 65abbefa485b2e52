"""Which rows of the papers a checkpoint fits, and under which readings, by its shapes alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import timm

from imlp_audit.checkpoint.contents import Checkpoint
from imlp_audit.checkpoint.fitting import Fit, Shapes, dialects, fit
from imlp_audit.checks.context import Conventions
from imlp_audit.count.facts import Failure, ModelKey, Need
from imlp_audit.count.measuring import measure_outside
from imlp_audit.errors import BuildError
from imlp_audit.models.available_hosts import Timm
from imlp_audit.models.build import Builder
from imlp_audit.models.host import Host
from imlp_audit.models.own import PythonModule
from imlp_audit.models.readings import AnyReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.processes.code import is_bundled
from imlp_audit.records.checkpoint import (
    Candidates,
    CheckpointFile,
    CheckpointReport,
    FittingModel,
    Inspection,
    ModelsCompared,
)
from imlp_audit.spec.load import Selection
from imlp_audit.spec.paper import Paper

_NEAREST = 3
_MOST_STATES = 4


@dataclass
class ModelUse:
    """A model of the papers: the rows that have it, and the names of the readings that it can be built under."""

    label: str
    recipe: Recipe
    places: list[str] = field(default_factory=list)
    readings: dict[AnyReading | None, list[str]] = field(default_factory=dict)


def find_candidates(held: Shapes, selection: Selection, announce: Callable[[int], Callable[[str], None]]) -> Candidates:
    """Return what a checkpoint of these shapes fits among the models of the selected papers."""
    every, builder = list_models(selection), Builder()
    uses = _without_failing([use for use in every if use.recipe.code is None or use.recipe.code.folder is not None])
    named = [{dialect.names[name]: shape for name, shape in held.items()} for dialect in dialects(held)]
    likely = [use for use in uses if any(is_plausible(use.recipe, one) for one in named)]
    tell = announce(len(likely))
    alike = [use for use in likely if any(has_same_start(use.recipe, one, builder) for one in named)]
    compared = alike or likely  # if no model starts alike, all are compared
    found: list[FittingModel] = []
    for use in compared:
        tell(use.recipe.name)
        found += _compare(held, use, builder)
    exact = tuple(model for model in found if not model.problems)
    by_misfits = sorted(found, key=lambda model: sum(len(problem.tensors) for problem in model.problems))
    nearest = () if exact else tuple(by_misfits[:_NEAREST])
    models = ModelsCompared(known=len(every), compared=len(compared), untrusted=len(every) - len(uses))
    return Candidates(exact=exact, nearest=nearest, models=models)


def _without_failing(uses: Sequence[ModelUse]) -> list[ModelUse]:
    """Return the models without the readings under which code from outside does not build them."""
    keys = {ModelKey(use.recipe, reading): Need() for use in uses if use.recipe.runs_code for reading in use.readings}
    failing = {key for key, found in measure_outside(keys, lambda _: None) if isinstance(found, Failure)}
    return [
        replace(use, readings={r: names for r, names in use.readings.items() if ModelKey(use.recipe, r) not in failing})
        for use in uses
    ]


def choose_candidates(
    states: Sequence[Shapes], selection: Selection, announce: Callable[[int], Callable[[str], None]]
) -> tuple[int, Candidates]:
    """Return the first state of a file that fits a model exactly, else the first, and what it fits.

    States with less than half the tensors of the largest are not tried.
    """
    least = max(map(len, states)) / 2
    tried = [(number, held) for number, held in enumerate(states) if len(held) >= least and held not in states[:number]]
    first = None
    for number, held in tried[:_MOST_STATES]:
        found = find_candidates(held, selection, announce)
        if found.exact:
            return number, found
        first = first or (number, found)
    assert first is not None
    return first


def is_plausible(recipe: Recipe, held: Shapes) -> bool:
    """Say whether a checkpoint has tensors of the names, and of the width, that the model would have."""
    if not recipe.host.modules:
        first = _first_layer(recipe.host)
        return first is None or _find_shape(first, held) is not None
    width = getattr(recipe.host, "width", None)
    held_names = {part for name in held for part in name.split(".")}
    return bool(held_names & recipe.host.modules) and any(width in (None, *shape) for shape in held.values())


@cache
def _first_layer(host: Host) -> str | None:
    """Return the name of a first tensor that every checkpoint of a model has, None where it is not known."""
    if isinstance(host, Timm):
        known = timm.models.get_pretrained_cfg(host.architecture) if timm.is_model(host.architecture) else None
        first = getattr(known, "first_conv", None)
        return f"{first}.weight" if isinstance(first, str) else None
    if isinstance(host, PythonModule) and (host.folder is None or not is_bundled(host.folder)):
        return None  # its code is run in a process of its own, and nowhere else
    try:
        with Builder().variant(Recipe.of(host=host), None) as variant:
            names = list(variant.model.state_dict())
            return next((name for name in names if name.endswith(".weight")), names[0])
    except Exception:  # classes of transformers check their configurations with errors of every kind
        return None


def has_same_start(recipe: Recipe, held: Shapes, builder: Builder) -> bool:
    """Say whether the first layers of a model and a checkpoint have the same shape; no if the model cannot be built.

    The host alone shows it, and only where the first layer's name is known.
    """
    first = None if recipe.host.modules else _first_layer(recipe.host)
    if first is None:
        return True
    try:
        with builder.variant(recipe.with_own_mlps(), None) as variant:
            weight = dict(variant.model.named_parameters()).get(first)
    except BuildError:
        return False  # `verify` reports what is wrong with such a row
    return weight is None or tuple(weight.shape) == _find_shape(first, held)


def _find_shape(name: str, held: Shapes) -> tuple[int, ...] | None:
    """Return the shape of a tensor in a checkpoint, whatever stands before its name there."""
    return next((shape for one, shape in held.items() if f".{one}".endswith(f".{name}")), None)


def list_models(selection: Selection) -> list[ModelUse]:
    """Return the models of the selected papers, each once, in the papers' order."""
    uses: dict[Recipe, ModelUse] = {}
    for paper in selection.papers:
        part = selection.part(paper.id)
        readings = Conventions(paper.about.value).readings
        for label, place, file, recipe in _list_places(paper):
            if not part.touches_row(place, file):
                continue
            use = uses.setdefault(recipe, ModelUse(label, recipe))
            use.places.append(place)
            for name, reading in readings.items():
                names = use.readings.setdefault(recipe.part_of(reading), [])
                if name is not None and recipe.family and name not in names:
                    names.append(name)
    return list(uses.values())


def _list_places(paper: Paper) -> Iterator[tuple[str, str, str, Recipe]]:
    for row in paper.rows:
        if row.row.model is not None:
            yield row.full_label, row.id, row.table.source().file, row.row.model
    for system in paper.systems:
        place = f"{paper.id}/systems/{system.value.id}"
        yield system.value.label, place, system.source().file, system.value.model


def _compare(held: Shapes, use: ModelUse, builder: Builder) -> Iterator[FittingModel]:
    """Yield how a checkpoint fits a model: under the readings that it fits, else under the nearest one."""
    found = {reading: _fit(held, use.recipe, reading, builder) for reading in use.readings}
    fits = {reading: one for reading, one in found.items() if one is not None}
    if not fits:
        return
    nearest = min(fits, key=lambda reading: fits[reading].misfits)
    names = [name for reading, one in fits.items() if one.exact for name in use.readings[reading]]
    yield FittingModel(
        label=use.label,
        model=str(use.recipe),
        places=tuple(use.places),
        readings=tuple(dict.fromkeys(names or use.readings[nearest])),
        notes=fits[nearest].notes,
        problems=fits[nearest].problems,
    )


def _fit(held: Shapes, recipe: Recipe, reading: AnyReading | None, builder: Builder) -> Fit | None:
    try:
        with builder.variant(recipe, reading) as variant:
            return fit(held, variant.model)
    except BuildError:
        return None  # as above


def report_checkpoint(checkpoint: Checkpoint, sha256: str, found: Candidates, weights: Inspection) -> CheckpointReport:
    """Return everything that is known of a checkpoint as a record."""
    return CheckpointReport(
        file=CheckpointFile(
            container=str(checkpoint.container),
            bytes=checkpoint.identity.size,
            sha256=sha256,
            state=checkpoint.state.name,
            notes=checkpoint.state.notes,
            tensors=len(checkpoint.state.tensors),
            parameters=checkpoint.parameters,
            buffers=checkpoint.buffers,
            dtypes=dict(checkpoint.dtypes),
        ),
        weights=weights,
        **dict(found),
    )
