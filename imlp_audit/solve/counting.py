"""Counting models under every reading, on the meta device, without building each of them.

What a model has adds up: a host without its MLPs and the blocks in their place, or what stands around a stack of
layers and the layers. Nothing is known about how the axes of somebody else's block interact: models that code from
outside has a part in are counted whole, and IMLP blocks in somebody else's host are not searched.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import torch
from torch import Tensor, nn

from imlp_audit.count.conventions import ParameterConvention
from imlp_audit.count.dispatch import signature
from imlp_audit.count.facts import Failure, ModelFacts, ModelKey, Need
from imlp_audit.count.fvcore import unfuse_attention
from imlp_audit.count.ledger import CallCache, measure
from imlp_audit.count.outside import measure_outside
from imlp_audit.count.parameters import parameter_counts
from imlp_audit.count.record import Ledger, site_of
from imlp_audit.errors import BuildError, SolverError
from imlp_audit.models.build import Builder, Variant
from imlp_audit.models.host import Stack
from imlp_audit.models.readings import AnyReading, BlockReading, Family, Reach, axes_of
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.replace import changed_mlps, mlps_of, use_modules
from imlp_audit.models.settings import example_inputs
from imlp_audit.solve.space import Counts, Readings, count_vector, structure_of, tabulate


@dataclass(frozen=True)
class Counted:
    """A model, its work by module, and by path what each call of an MLP was given."""

    model: nn.Module
    ledger: Ledger
    inputs: Mapping[str, Sequence[Tensor]]

    def counts(self) -> Counts:
        """Return the counts of the whole."""
        return count_vector(parameter_counts(self.model), self.ledger)

    def without(self, paths: Sequence[str]) -> Counts:
        """Return the counts of the model without the modules at some paths."""
        inside = self.ledger.within(paths).work
        rest = {key: amount for key, amount in self.ledger.work.items() if key not in inside}
        with use_modules(self.model, {path: nn.Identity() for path in paths}):
            return count_vector(parameter_counts(self.model), Ledger(rest, self.ledger.unknown))


def count_model(variant: Variant, memory: CallCache) -> Counted:
    """Run a model once on its example inputs."""
    model = unfuse_attention(variant.model)
    inputs: dict[str, list[Tensor]] = {path: [] for path in variant.mlps}
    with torch.device("meta"):
        images = example_inputs(model)
    with ExitStack() as listening:
        for path, heard in inputs.items():
            hook = model.get_submodule(path).register_forward_pre_hook(_listener(heard))
            listening.callback(hook.remove)
        ledger = measure(model, *images, cache=memory)
    return Counted(model, ledger, inputs)


def _listener(heard: list[Tensor]) -> Callable[[nn.Module, tuple[Tensor, ...]], None]:
    """Return a hook that keeps what a module is given; on the meta device that holds no data."""

    def listen(_module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        heard.extend(inputs)

    return listen


def count_block(block: nn.Module, inputs: Sequence[Tensor], at: str, memory: CallCache) -> Counts:
    """Return the counts of the part of a model at a dotted path, called once for each input; none of it is a head."""
    counts = parameter_counts(block)
    own = {**counts, ParameterConvention.NO_HEAD: counts[ParameterConvention.ALL]}
    calls = (count_vector({}, _prefix_paths(measure(block, x, cache=memory), at)) for x in inputs)
    return sum(calls, count_vector(own, Ledger({}, {})))


def _prefix_paths(ledger: Ledger, at: str) -> Ledger:
    work = {(f"{at}.{path}" if path else at, operation): amount for (path, operation), amount in ledger.work.items()}
    return Ledger(work, ledger.unknown)


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
class Hosts:
    """Counts each host once, whatever replaces its MLPs, and the blocks of each recipe, kind and reading once."""

    _builder: Builder = field(default_factory=Builder)
    _memory: CallCache = field(default_factory=dict)
    _hosts: dict[nn.Module, Counted] = field(default_factory=dict)
    _blocks: dict[Hashable, Counts] = field(default_factory=dict)

    def as_it_is(self, recipe: Recipe) -> Counts:
        """Return the counts of a model that no reading changes."""
        if not recipe.changes_mlps:
            return self._host(recipe, None).counts()
        with self._builder.variant(recipe, None) as variant:
            return count_model(variant, self._memory).counts()

    def with_blocks(self, recipe: Recipe, readings: Readings) -> Counts:
        """Return the counts of a host with IMLP blocks under every reading, (readings, counts).

        Without its class token a ViT is another host, whose blocks see one token less; others are the same.
        """
        by_host: dict[nn.Module, Counts] = {}
        tables: list[Counts] = []
        for alike in readings.by(HOST_AXES):
            host = self._host(recipe, alike.first)
            if host.model not in by_host:
                by_host[host.model] = self._tabulate(host, recipe, alike)
            tables.append(by_host[host.model])
        return readings.join(HOST_AXES, tables)

    def _host(self, recipe: Recipe, reading: AnyReading | None) -> Counted:
        """Return the host alone, counted; without its class token where it has one and the reading removes it."""
        with self._builder.variant(recipe.with_own_mlps(), reading) as variant:
            if variant.model not in self._hosts:
                self._hosts[variant.model] = count_model(variant, self._memory)
            return self._hosts[variant.model]

    def _tabulate(self, host: Counted, recipe: Recipe, readings: Readings) -> Counts:
        replaced = list(changed_mlps(host.model, mlps_of(host.model, recipe), recipe))
        shapes = _shapes(host, replaced)
        blocks = tabulate(readings, lambda reading: self._count_blocks(recipe, shapes, reading), BLOCK)
        return host.without(replaced) + blocks

    def _count_blocks(self, recipe: Recipe, shapes: Sequence[Shape], reading: AnyReading) -> Counts:
        keys = [(recipe.imlp, recipe.activation, shape.kind, reading) for shape in shapes]
        new = {key: shape for key, shape in zip(keys, shapes, strict=True) if key not in self._blocks}
        if new:
            one_each = recipe.with_change({"mlp": {"sites": [shape.path for shape in new.values()]}})
            with self._builder.variant(one_each, reading) as variant:
                for key, shape in new.items():
                    block = variant.model.get_submodule(shape.path)
                    self._blocks[key] = count_block(block, shape.inputs, shape.path, self._memory)
        counts = [shape.number * self._blocks[key] for key, shape in zip(keys, shapes, strict=True)]
        total: Counts = np.sum(counts, axis=0, dtype=np.int64)
        return total


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


@dataclass(eq=False)
class Stacks:
    """Counts models of one layer and of two; all that differ in nothing but their depth follow from these."""

    _memory: CallCache = field(default_factory=dict)
    _counted: dict[Recipe, tuple[Counts, Counts]] = field(default_factory=dict)

    def with_layers(self, recipe: Recipe, readings: Readings) -> Counts:
        """Return the counts of a model under every reading, (readings, counts)."""
        alone = _with_depth(recipe, 1)
        if alone not in self._counted:
            self._counted[alone] = self._count(recipe, readings)
        model, layer = self._counted[alone]
        return model + (_stack(recipe).layers - 1) * layer

    def _count(self, recipe: Recipe, readings: Readings) -> tuple[Counts, Counts]:
        one, two = (self._counter(_with_depth(recipe, depth)) for depth in (1, 2))
        axes = readings.declared
        whole = structure_of(axes, moved=(Reach.UNIT, Reach.AROUND))
        layer = structure_of(axes, moved=(Reach.UNIT,), fixed=(Reach.AROUND,))
        return tabulate(readings, one, whole), tabulate(readings, lambda reading: two(reading) - one(reading), layer)

    def _counter(self, recipe: Recipe) -> Callable[[AnyReading], Counts]:
        @cache
        def count(reading: AnyReading) -> Counts:
            with Builder().variant(recipe, reading) as variant:  # a builder of its own: nothing is built twice
                return count_model(variant, self._memory).counts()

        return count


def _stack(recipe: Recipe) -> Stack:
    if not isinstance(recipe.host, Stack):
        raise SolverError(f"{recipe.name} is not a stack of layers, as a host that readings change must be")
    return recipe.host


def _with_depth(recipe: Recipe, layers: int) -> Recipe:
    return recipe.model_copy(update={"host": _stack(recipe).with_layers(layers)})


@dataclass(eq=False)
class Outside:
    """Counts the models of code from outside; those that are expected are counted together."""

    _expected: dict[ModelKey, Need] = field(default_factory=dict)
    _facts: dict[ModelKey, ModelFacts | Failure] = field(default_factory=dict)

    def expect(self, models: Mapping[Recipe, Readings | None]) -> None:
        """Say which models will be asked for, each with its readings, None if no reading changes it."""
        for recipe, readings in models.items():
            self._expected.update(dict.fromkeys(_keys(recipe, readings), Need(work=True)))

    def count(self, recipe: Recipe, readings: Readings | None) -> Counts:
        """Return the counts under every reading, (readings, counts). Raises BuildError where one fails."""
        self.expect({recipe: readings})
        new = {key: need for key, need in self._expected.items() if key not in self._facts}
        self._facts.update(measure_outside(new, lambda _: None) if new else ())
        return np.stack([_counts_of(key, self._facts[key]) for key in _keys(recipe, readings)])


def _keys(recipe: Recipe, readings: Readings | None) -> Iterator[ModelKey]:
    if readings is None:
        yield ModelKey(recipe, None)
    else:
        yield from (ModelKey(recipe, reading) for reading in readings.all())


def _counts_of(key: ModelKey, facts: ModelFacts | Failure) -> Counts:
    if isinstance(facts, Failure):
        raise BuildError(f"{facts.message}{_under(key)}")
    if facts.ledger is None:
        raise BuildError(f"{key.recipe.name}: its work was not counted{_under(key)}")
    return count_vector(facts.parameters, facts.ledger)


def _under(key: ModelKey) -> str:
    if not isinstance(key.reading, BlockReading):
        return ""
    return f" (with {', '.join(f'{axis}: {value}' for axis, value in key.reading.answers)})"
