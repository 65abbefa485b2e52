"""What was measured of the models: plain records that checks are made from, without a framework."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from imlp_audit.measure.conventions import ParameterConvention
from imlp_audit.measure.record import Ledger, Peak
from imlp_audit.models.hosts.host import Setting
from imlp_audit.models.reading import AnyReading, PaperReading
from imlp_audit.models.recipe import Recipe


@dataclass(frozen=True)
class ModelKey:
    """A model to measure: a recipe, and the reading where one of its parts depends on it."""

    recipe: Recipe
    reading: AnyReading | None

    @classmethod
    def of(cls, recipe: Recipe, reading: PaperReading) -> ModelKey:
        """Return the key; a model about which nothing is left open is the same under every reading."""
        return cls(recipe, recipe.part_of(reading))


@dataclass(frozen=True)
class Need:
    """How much of a model is to be measured beside its parameters: its work, and its memory for batches of images."""

    work: bool = False
    batches: frozenset[int] = frozenset()

    def __or__(self, other: Need) -> Need:
        """Return what serves both."""
        return Need(self.work or other.work, self.batches | other.batches)


@dataclass(frozen=True)
class ModelFacts:
    """Exact counts of one model.

    `mlps` are the dotted paths of its MLP modules, `mlp_parameters` the number of parameters in them.
    `ledger` is None where only parameters were asked for. `peaks` is the memory of a forward pass by its number
    of images. `counted` holds totals that a counter outside the ledger gave, by the name of the convention they
    stand for.
    """

    parameters: Mapping[ParameterConvention, int]
    mlps: tuple[str, ...]
    mlp_parameters: int
    ledger: Ledger | None = None
    settings: Mapping[Setting, int] = field(default_factory=dict)
    peaks: Mapping[int, Peak] = field(default_factory=dict)
    counted: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Failure:
    """Why a model could not be built or counted."""

    message: str


Facts: TypeAlias = Mapping[ModelKey, ModelFacts | Failure]
