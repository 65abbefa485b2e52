"""Hosts with replaced MLPs: the host without them, and the block that replaces each shape of MLP."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
from torch import Tensor, nn

from imlp_audit.count.dispatch import signature
from imlp_audit.count.ledger import CallCache
from imlp_audit.count.sites import site_of
from imlp_audit.models.build import Builder
from imlp_audit.models.host import Setting
from imlp_audit.models.reading import AnyReading, Family, Reach, axes_of
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.replace import changed_mlps, mlps_of
from imlp_audit.models.settings import settings_of
from imlp_audit.solve.amounts import Amounts
from imlp_audit.solve.counting import Counted, count_block, count_model
from imlp_audit.solve.space import Readings, structure_of, tabulate

BLOCK = structure_of(axes_of(Family.IMLP), moved=(Reach.UNIT,), fixed=(Reach.HOST,))
HOST_AXES = tuple(name for name, axis in axes_of(Family.IMLP).items() if axis.reach is Reach.HOST)


@dataclass(frozen=True)
class Shape:
    """MLPs of a host that are alike: the path of one of them, their number, and what each is called on.

    `kind` is all that the counts of their replacement depend on, except its recipe and reading.
    """

    kind: Hashable
    path: str
    number: int
    inputs: Sequence[Tensor]


@dataclass(eq=False)
class Blocks:
    """Counts the blocks of each recipe, kind and reading once, in the first host that has them."""

    builder: Builder
    memory: CallCache
    _counted: dict[Hashable, Amounts] = field(default_factory=dict)

    def count(self, recipe: Recipe, shapes: Sequence[Shape], reading: AnyReading) -> Amounts:
        """Return the amounts of all blocks of some shapes in the host of a recipe."""
        keys = [(_block_of(recipe), shape.kind, reading) for shape in shapes]
        new = {key: shape for key, shape in zip(keys, shapes, strict=True) if key not in self._counted}
        if new:
            one_each = recipe.with_change({"mlp": {"sites": [shape.path for shape in new.values()]}})
            with self.builder.variant(one_each, reading) as variant:
                for key, shape in new.items():
                    block = variant.model.get_submodule(shape.path)
                    self._counted[key] = count_block(block, shape.inputs, shape.path, self.memory)
        counts = [shape.number * self._counted[key] for key, shape in zip(keys, shapes, strict=True)]
        total: Amounts = np.sum(counts, axis=0, dtype=np.int64)
        return total


@dataclass(eq=False)
class Hosts:
    """Counts each host once, whatever replaces its MLPs."""

    _blocks: Blocks = field(default_factory=lambda: Blocks(Builder(), {}))
    _counted: dict[nn.Module, Counted] = field(default_factory=dict)

    def as_it_is(self, recipe: Recipe) -> Amounts:
        """Return the amounts of a model that no reading changes."""
        if not recipe.changes_mlps:
            return self._host(recipe, None).amounts()
        with self._blocks.builder.variant(recipe, None) as variant:
            return count_model(variant, self._blocks.memory).amounts()

    def mlps(self, recipe: Recipe) -> tuple[str, ...]:
        """Return the paths of the host's MLPs."""
        return tuple(self._host(recipe, None).inputs)

    def side(self, recipe: Recipe) -> int | None:
        """Return the side of the host's images, None where they are not square."""
        return settings_of(self._host(recipe, None).model).get(Setting.IMAGE)

    def with_blocks(self, recipe: Recipe, readings: Readings) -> Amounts:
        """Return the amounts of a host with IMLP blocks under every reading, (readings, amounts).

        Without its class token a ViT is another host, whose blocks see one token less; others are the same.
        """
        by_host: dict[nn.Module, Amounts] = {}
        tables: list[Amounts] = []
        for alike in readings.by(HOST_AXES):
            host = self._host(recipe, alike.first)
            if host.model not in by_host:
                by_host[host.model] = self._tabulate(host, recipe, alike)
            tables.append(by_host[host.model])
        return readings.join(HOST_AXES, tables)

    def _host(self, recipe: Recipe, reading: AnyReading | None) -> Counted:
        """Return the host alone, counted; without its class token where it has one and the reading removes it."""
        with self._blocks.builder.variant(recipe.with_own_mlps(), reading) as variant:
            if variant.model not in self._counted:
                self._counted[variant.model] = count_model(variant, self._blocks.memory)
            return self._counted[variant.model]

    def _tabulate(self, host: Counted, recipe: Recipe, readings: Readings) -> Amounts:
        """Return the amounts of one host under the readings that ask for it."""
        replaced = list(changed_mlps(host.model, mlps_of(host.model, recipe), recipe))
        shapes = _shapes(host, replaced)
        blocks = tabulate(readings, lambda reading: self._blocks.count(recipe, shapes, reading), BLOCK)
        return host.without(replaced) + blocks


def _block_of(recipe: Recipe) -> Hashable:
    """Return what a recipe says about the blocks only."""
    return recipe.imlp, recipe.activation


def _shapes(host: Counted, paths: Sequence[str]) -> list[Shape]:
    """Sort MLPs by what the counts of a block in their place depend on."""
    alike: dict[Hashable, list[str]] = {}
    for path in paths:
        alike.setdefault(_kind(host, path), []).append(path)
    return [Shape(kind, group[0], len(group), host.inputs[group[0]]) for kind, group in alike.items()]


def _kind(host: Counted, path: str) -> Hashable:
    """Return an MLP's place, weights and inputs. Where these are maps, blocks of all hosts are alike.

    For tokens in a list, the host determines the grid and which tokens lie on it.
    """
    weights = tuple((name, weight.shape) for name, weight in host.model.get_submodule(path).named_parameters())
    maps = all(x.ndim == 4 for x in host.inputs[path])
    return site_of(path), weights, signature(host.inputs[path]), None if maps else host.model
