"""Models that are a stack of equal layers: what stands around them, and as often as there are layers one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

from imlp_audit.measure.ledger import CallCache
from imlp_audit.models.build import Builder
from imlp_audit.models.hosts.bert import Bert
from imlp_audit.models.hosts.gmlp import GmlpText
from imlp_audit.models.hosts.resmlp import ResMlp
from imlp_audit.models.reading import AnyReading
from imlp_audit.models.recipe import HOSTS, Recipe
from imlp_audit.solve.additive import Structure, tabulate
from imlp_audit.solve.amounts import Amounts
from imlp_audit.solve.counting import count_model
from imlp_audit.solve.space import Readings

FORM = Structure(apart=(("resmlp_form",),))
# The length of the texts multiplies the work of every part; inside a layer the norm of a gate is as wide as D_C.
TEXT_LAYER = Structure(apart=(("spatial_matrix",), ("ffn_width", "gate_norm")), together=("sequence_length",))
TEXT = Structure(apart=(*TEXT_LAYER.apart, ("vocabulary", "output_layer"), ("pooler",)), together=TEXT_LAYER.together)

MODELS: Mapping[str, Structure] = {"resmlp": FORM, "text": TEXT}
LAYERS: Mapping[str, Structure] = {"resmlp": FORM, "text": TEXT_LAYER}
"""How a model, and one more layer in it, depend on the axes of their family."""


@dataclass(frozen=True)
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
        return model + (_depth(recipe) - 1) * layer

    def _count(self, recipe: Recipe, readings: Readings) -> tuple[Amounts, Amounts]:
        """Return the amounts of the model with one layer, and of one layer more."""
        one, two = (self._counter(_with_depth(recipe, depth)) for depth in (1, 2))
        family = recipe.family
        assert family is not None
        return (
            tabulate(readings, one, MODELS[family]),
            tabulate(readings, lambda reading: two(reading) - one(reading), LAYERS[family]),
        )

    def _counter(self, recipe: Recipe) -> Callable[[AnyReading], Amounts]:
        @cache
        def count(reading: AnyReading) -> Amounts:
            with Builder().variant(recipe, reading) as variant:  # a builder of its own: nothing is built twice
                return count_model(variant, self._memory).amounts()

        return count


def _stack(recipe: Recipe) -> GmlpText | Bert | ResMlp:
    host = recipe.host
    assert isinstance(host, GmlpText | Bert | ResMlp), "no other family has axes"
    return host


def _depth(recipe: Recipe) -> int:
    return _stack(recipe).layers


def _with_depth(recipe: Recipe, layers: int) -> Recipe:
    host = _stack(recipe)
    name = next(name for name in HOSTS if getattr(recipe, name) is host)
    return recipe.model_copy(update={name: host.model_copy(update={"layers": layers})})
