"""What was measured of the models: plain records that checks are made from, without a framework."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from imlp_audit.measure.conventions import ParameterConvention
from imlp_audit.measure.record import Ledger
from imlp_audit.models.reading import Reading
from imlp_audit.models.recipe import Recipe


@dataclass(frozen=True)
class ModelKey:
    """A model to measure: a recipe, and the reading where one of its parts depends on it."""

    recipe: Recipe
    reading: Reading | None

    @classmethod
    def of(cls, recipe: Recipe, reading: Reading | None) -> ModelKey:
        """Return the key; a model whose MLPs are its own is the same under every reading."""
        return cls(recipe, reading if recipe.mlp is not None else None)


@dataclass(frozen=True)
class ModelFacts:
    """Exact counts of one model.

    `mlps` are the dotted paths of its MLP modules, `mlp_parameters` the number of parameters in them.
    `ledger` is None where only parameters were asked for. `counted` holds totals that a counter outside
    the ledger gave, by the name of the convention they stand for.
    """

    parameters: Mapping[ParameterConvention, int]
    mlps: tuple[str, ...]
    mlp_parameters: int
    ledger: Ledger | None = None
    counted: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Failure:
    """Why a model could not be built or counted."""

    message: str


Facts: TypeAlias = Mapping[ModelKey, ModelFacts | Failure]
