"""Models that are a stack of equal layers: what stands around them, and as often as there are layers one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

from imlp_audit.errors import SolverError
from imlp_audit.measure.ledger import CallCache
from imlp_audit.models.build import Builder
from imlp_audit.models.hosts.host import Stack
from imlp_audit.models.reading import AnyReading, Reach
from imlp_audit.models.recipe import Recipe
from imlp_audit.solve.additive import structure_of, tabulate
from imlp_audit.solve.amounts import Amounts
from imlp_audit.solve.counting import count_model
from imlp_audit.solve.space import Readings


@dataclass(eq=False)
class Stacks:
    """Counts models of one layer and of two; all that differ in nothing but their depth follow from these."""

    _memory: CallCache = field(default_factory=dict)
    _counted: dict[Recipe, tuple[Amounts, Amounts]] = field(default_factory=dict)

    def with_layers(self, recipe: Recipe, readings: Readings) -> Amounts:
        """Return the amounts of a model under every reading, (readings, amounts)."""
        alone = _with_depth(recipe, 1)
        if alone not in self._counted:
            self._counted[alone] = self._count(recipe, readings)
        model, layer = self._counted[alone]
        return model + (_stack(recipe).layers - 1) * layer

    def _count(self, recipe: Recipe, readings: Readings) -> tuple[Amounts, Amounts]:
        """Return the amounts of the model with one layer, and of one layer more."""
        one, two = (self._counter(_with_depth(recipe, depth)) for depth in (1, 2))
        axes = readings.declared
        whole = structure_of(axes, moved=(Reach.UNIT, Reach.AROUND))
        layer = structure_of(axes, moved=(Reach.UNIT,), fixed=(Reach.AROUND,))
        return tabulate(readings, one, whole), tabulate(readings, lambda reading: two(reading) - one(reading), layer)

    def _counter(self, recipe: Recipe) -> Callable[[AnyReading], Amounts]:
        @cache
        def count(reading: AnyReading) -> Amounts:
            with Builder().variant(recipe, reading) as variant:  # a builder of its own: nothing is built twice
                return count_model(variant, self._memory).amounts()

        return count


def _stack(recipe: Recipe) -> Stack:
    if not isinstance(recipe.host, Stack):
        raise SolverError(
            f"{recipe.name} is not a stack of layers; only stacks can be searched for hosts that readings change"
        )
    return recipe.host


def _with_depth(recipe: Recipe, layers: int) -> Recipe:
    return recipe.model_copy(update={"host": _stack(recipe).with_layers(layers)})
