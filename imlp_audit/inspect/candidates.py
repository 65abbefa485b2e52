"""Which rows of the papers, under which readings, a checkpoint fits: told from its shapes alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from imlp_audit.checkpoint.fitting import Fit, fit
from imlp_audit.checkpoint.problems import Shapes
from imlp_audit.checks.context import Conventions
from imlp_audit.errors import BuildError
from imlp_audit.inspect.candidate_clues import plausible, starts_alike
from imlp_audit.inspect.candidate_readings import Allowed, allowed_readings
from imlp_audit.models.build import Builder
from imlp_audit.models.reading import AnyReading, Reading
from imlp_audit.models.recipe import Recipe
from imlp_audit.spec.library import Selection
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.references import RowRef, rows_of

_NEAREST = 3


@dataclass
class Use:
    """A model of the papers: where it stands, and the names of the readings that it can be built under."""

    label: str
    recipe: Recipe
    places: list[str] = field(default_factory=list)
    readings: dict[AnyReading | None, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Candidate:
    """How a checkpoint fits a model of the papers, under the readings of that names; none where none is needed.

    `allowed` are the readings of an IMLP block, declared or not, that its shapes allow.
    """

    label: str
    recipe: Recipe
    places: tuple[str, ...]
    readings: tuple[str, ...]
    fit: Fit
    allowed: Allowed | None = None


@dataclass(frozen=True)
class Candidates:
    """The models that a checkpoint fits, and the nearest ones where it fits none.

    `compared` of the `known` models of the papers were built: the others have no tensors of such names or widths.
    """

    exact: tuple[Candidate, ...]
    nearest: tuple[Candidate, ...]
    compared: int
    known: int


def candidates(held: Shapes, selection: Selection, announce: Callable[[int], Callable[[str], None]]) -> Candidates:
    """Return what a checkpoint of these shapes fits among the models of the selected papers."""
    uses, builder = models_of(selection), Builder()
    likely = [use for use in uses if plausible(use.recipe, held)]
    tell = announce(len(likely))
    alike = [use for use in likely if _starts_alike(held, use, builder)]
    compared = alike or likely  # where no model starts so, all of them are told apart from it
    found: list[Candidate] = []
    for use in compared:
        tell(use.recipe.name)
        found += _fits(held, use, builder)
    exact = tuple(candidate for candidate in found if candidate.fit.exact)
    nearest = () if exact else tuple(sorted(found, key=lambda candidate: candidate.fit.misfits)[:_NEAREST])
    return Candidates(exact, nearest, len(compared), len(uses))


def _starts_alike(held: Shapes, use: Use, builder: Builder) -> bool:
    try:
        return starts_alike(use.recipe, held, builder)
    except BuildError:
        return False  # `verify` says of such a row what is wrong with it


def models_of(selection: Selection) -> list[Use]:
    """Return the models of the selected papers, each once, in the papers' order."""
    uses: dict[Recipe, Use] = {}
    for paper in selection.papers:
        files = selection.only_files.get(paper.id)
        readings = Conventions(paper.about.value).readings
        for label, place, file, recipe in _places(paper):
            if files and file not in files:
                continue
            use = uses.setdefault(recipe, Use(label, recipe))
            use.places.append(place)
            for name, reading in readings.items():
                names = use.readings.setdefault(recipe.part_of(reading), [])
                if name is not None and recipe.family and name not in names:
                    names.append(name)
    return list(uses.values())


def _places(paper: Paper) -> Iterator[tuple[str, str, str, Recipe]]:
    for row in rows_of(paper):
        if row.row.model is not None:
            yield _label(row), row.id, row.table.source().file, row.row.model
    for system in paper.systems:
        place = f"{paper.id}/systems/{system.value.id}"
        yield system.value.label, place, system.source().file, system.value.model


def _label(row: RowRef) -> str:
    """Return a row's label, behind its baseline's where it only says what is added: `+ IMLP`, `w/ channel`."""
    adds = row.row.label.startswith(("+", "w/"))
    return f"{row.baseline.row.label} {row.row.label}" if adds and row.baseline is not None else row.row.label


def _fits(held: Shapes, use: Use, builder: Builder) -> list[Candidate]:
    """Return how a checkpoint fits a model under each reading: those that it fits, else the one it is nearest to."""
    found = {reading: _fit(held, use.recipe, reading, builder) for reading in use.readings}
    fits = {reading: one for reading, one in found.items() if one is not None}
    if not fits:
        return []
    nearest = min(fits, key=lambda reading: fits[reading].misfits)
    if isinstance(nearest, Reading):
        return [_under_any(held, use, nearest, fits[nearest], builder)]
    names = [name for reading, one in fits.items() if one.exact for name in use.readings[reading]]
    return [_candidate(use, names or use.readings[nearest], fits[nearest])]


def _fit(held: Shapes, recipe: Recipe, reading: AnyReading | None, builder: Builder) -> Fit | None:
    try:
        with builder.variant(recipe, reading) as variant:
            return fit(held, variant.model)
    except BuildError:
        return None  # as above


def _under_any(held: Shapes, use: Use, nearest: Reading, found: Fit, builder: Builder) -> Candidate:
    """Return how a checkpoint fits a model with an IMLP block, under whatever reading its shapes allow."""
    allowed = allowed_readings(held, found, use.recipe, nearest, builder)
    one = _fit(held, use.recipe, allowed.one, builder) if allowed is not None else None
    if allowed is None or one is None or one.misfits > found.misfits:
        return _candidate(use, use.readings[nearest], found)
    names = [name for reading, names in use.readings.items() if allowed.has(reading) for name in names]
    return _candidate(use, names, one, allowed)


def _candidate(use: Use, readings: list[str], found: Fit, allowed: Allowed | None = None) -> Candidate:
    names = tuple(dict.fromkeys(readings))
    return Candidate(use.label, use.recipe, tuple(use.places), names, found, allowed)
