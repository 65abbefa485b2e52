"""Hosts whose MLPs are replaced: a host without them, and for each shape of MLP the block that takes its place."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
from torch import Tensor, nn

from imlp_audit.measure.recorder import Memory
from imlp_audit.measure.signature import signature
from imlp_audit.models.build import Builder
from imlp_audit.models.reading import AnyReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.solve.additive import Structure, tabulate
from imlp_audit.solve.amounts import Amounts
from imlp_audit.solve.counting import Counted, count_block, count_model
from imlp_audit.solve.space import Readings

# An AGeLU that ends the depthwise block has as many coefficients as the channel part's AGeLUs have.
BLOCK = Structure(
    apart=(
        ("fc1_bias",),
        ("agelu_parameters", "depthwise_activation"),
        ("concat_norm",),
        ("depthwise_bias",),
        ("depthwise_norm",),
        ("depthwise_skip",),
        ("fc2_bias",),
        ("output_norm",),
    )
)


@dataclass(frozen=True)
class Shape:
    """MLPs of a host that are alike: the path of one of them, their number, and what each is called on."""

    path: str
    number: int
    inputs: Sequence[Tensor]


@dataclass(frozen=True)
class Swap:
    """A host whose MLPs are replaced: what stays of it, and the shapes of what does not.

    `recipe` replaces one MLP of each shape alone.
    """

    builder: Builder
    memory: Memory
    recipe: Recipe
    rest: Amounts
    shapes: Sequence[Shape]

    def under(self, reading: AnyReading) -> Amounts:
        """Return the amounts of the host with all of them replaced."""
        with self.builder.variant(self.recipe, reading) as variant:
            return sum((self._blocks(variant.model, shape) for shape in self.shapes), self.rest)

    def _blocks(self, model: nn.Module, shape: Shape) -> Amounts:
        return shape.number * count_block(model.get_submodule(shape.path), shape.inputs, self.memory)


@dataclass(frozen=True)
class Hosts:
    """Counts each host once, whatever is put in the place of its MLPs."""

    _builder: Builder = field(default_factory=Builder)
    _memory: Memory = field(default_factory=dict)
    _counted: dict[nn.Module, Counted] = field(default_factory=dict)

    def as_it_is(self, recipe: Recipe) -> Amounts:
        """Return the amounts of a model that no reading changes."""
        if recipe == _host_of(recipe):
            return self._host(recipe, None).amounts()
        with self._builder.variant(recipe, None) as variant:
            return count_model(variant, self._memory).amounts()

    def with_blocks(self, recipe: Recipe, readings: Readings) -> Amounts:
        """Return the amounts of a host with IMLP blocks under every reading, (readings, amounts).

        Without its class token a ViT is another host, whose blocks see one token less; others are the same.
        """
        tables: dict[nn.Module, Amounts] = {}
        by_token: list[Amounts] = []
        for token in readings.axes["class_token"]:
            alike = readings.where("class_token", token)
            host = self._host(recipe, alike.first)
            if host.model not in tables:
                tables[host.model] = tabulate(alike, self._swap(host, recipe, alike.first).under, BLOCK)
            by_token.append(tables[host.model])
        return np.stack(by_token, axis=1).reshape(len(readings), -1)  # the class token is the last axis

    def _host(self, recipe: Recipe, reading: AnyReading | None) -> Counted:
        """Return the host alone, counted; without its class token where it has one and the reading removes it."""
        with self._builder.variant(_host_of(recipe), reading) as variant:
            if variant.model not in self._counted:
                self._counted[variant.model] = count_model(variant, self._memory)
            return self._counted[variant.model]

    def _swap(self, host: Counted, recipe: Recipe, reading: AnyReading) -> Swap:
        """Find out which MLPs a recipe replaces."""
        own = {path: host.model.get_submodule(path) for path in host.inputs}
        with self._builder.variant(recipe, reading) as variant:
            replaced = [path for path, mlp in own.items() if variant.model.get_submodule(path) is not mlp]
        shapes = _shapes(host, replaced)
        one_each = _at_sites(recipe, tuple(shape.path for shape in shapes))
        return Swap(self._builder, self._memory, one_each, host.without(replaced), shapes)


def _host_of(recipe: Recipe) -> Recipe:
    return recipe.model_copy(update={"mlp": None, "activation": None, "agelu": False})


def _at_sites(recipe: Recipe, sites: tuple[str, ...]) -> Recipe:
    """Return the recipe with no other MLPs replaced."""
    assert recipe.mlp is not None, "nothing is replaced without it"
    return recipe.model_copy(update={"mlp": recipe.mlp.model_copy(update={"sites": sites})})


def _shapes(host: Counted, paths: Sequence[str]) -> list[Shape]:
    """Sort MLPs by what a block in their place is made from: their kind, place, weights and inputs."""
    alike: dict[Hashable, list[str]] = {}
    for path in paths:
        mlp = host.model.get_submodule(path)
        block = host.model.get_submodule(path.rpartition(".")[0])
        weights = tuple((name, weight.shape) for name, weight in mlp.named_parameters())
        alike.setdefault((type(mlp), type(block), weights, signature(host.inputs[path])), []).append(path)
    return [Shape(group[0], len(group), host.inputs[group[0]]) for group in alike.values()]
