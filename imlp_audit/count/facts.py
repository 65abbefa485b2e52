"""What was measured of the models: plain records for the checks, without torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from imlp_audit.count.conventions import Convention, ParameterConvention
from imlp_audit.count.record import Ledger, Peak
from imlp_audit.models.host import Setting
from imlp_audit.models.readings import AnyReading, PaperReading
from imlp_audit.models.recipe import Recipe


@dataclass(frozen=True)
class ModelKey:
    """A model to measure: a recipe, and the reading where one of its parts depends on it."""

    recipe: Recipe
    reading: AnyReading | None

    @classmethod
    def of(cls, recipe: Recipe, reading: PaperReading) -> ModelKey:
        """Return the key; if the text leaves nothing open about a model, all readings share one key."""
        return cls(recipe, recipe.part_of(reading))


@dataclass(frozen=True)
class Need:
    """What to measure of a model in addition to its parameters: its work, and its memory for batches of images."""

    work: bool = False
    batches: frozenset[int] = frozenset()

    def __or__(self, other: Need) -> Need:
        return Need(self.work or other.work, self.batches | other.batches)


@dataclass(frozen=True)
class ModelFacts:
    """Exact counts of one model.

    `mlps` are the dotted paths of its MLP modules, `mlp_parameters` the number of parameters in them. `ledger` is
    None if only parameters were requested. `peaks` maps a number of images to the memory of their forward pass.
    `counted` holds totals from a counter other than the ledger, by the name of the convention they stand for.
    """

    parameters: Mapping[ParameterConvention, int]
    mlps: tuple[str, ...]
    mlp_parameters: int
    ledger: Ledger | None = None
    settings: Mapping[Setting, int] = field(default_factory=dict)
    peaks: Mapping[int, Peak] = field(default_factory=dict)
    counted: Mapping[str, int] = field(default_factory=dict)

    def has_total(self, convention: Convention) -> bool:
        """Whether the model has a total under a FLOPs convention: without a classifier it has none to leave out."""
        return not convention.needs_classifier or ParameterConvention.NO_HEAD in self.parameters


@dataclass(frozen=True)
class Failure:
    """A model that could not be built or counted, and why; `untrusted` if its code may not be run."""

    message: str
    untrusted: bool = False


Measured: TypeAlias = tuple[ModelKey, ModelFacts | Failure]
Facts: TypeAlias = Mapping[ModelKey, ModelFacts | Failure]
