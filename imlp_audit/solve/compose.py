"""From rows of tables to a problem: every row's counts under every reading, without building each model.

What a model has adds up: a host without its MLPs and the blocks in their place, or what stands around a stack of
layers and the layers; and what a block has is the sum of its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import assert_never

import numpy as np

from imlp_audit.count.ledger import CallCache
from imlp_audit.errors import AuditError, BuildError, SolverError
from imlp_audit.models.build import Builder, describe_failure
from imlp_audit.models.hosts.host import FeatureMapInput, ImageInput, OwnImageInput, OwnInput, Size, Stack, TokenInput
from imlp_audit.models.own_axes import OwnFamily
from imlp_audit.models.reading import AnyReading, Family, Reach
from imlp_audit.models.recipe import Recipe
from imlp_audit.solve.amounts import Amounts
from imlp_audit.solve.compose_blocks import Hosts
from imlp_audit.solve.compose_outside import Outside
from imlp_audit.solve.counting import count_model
from imlp_audit.solve.posing import Posed, images_of, named_parts, pose, posed_id
from imlp_audit.solve.problem import SearchProblem
from imlp_audit.solve.space import Readings, readings_of, structure_of, tabulate
from imlp_audit.spec.paper import RowRef


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
        raise SolverError(f"{recipe.name} is not a stack of layers, as a host that readings change must be")
    return recipe.host


def _with_depth(recipe: Recipe, layers: int) -> Recipe:
    return recipe.model_copy(update={"host": _stack(recipe).with_layers(layers)})


@dataclass(frozen=True)
class Composition:
    """The problem that rows pose, by their ids the recipes of its rows and why others are no part of it, and what
    counted them. Of these others, the models of the `failed` ones could not be built or counted."""

    problem: SearchProblem
    refused: Mapping[str, str]
    failed: tuple[str, ...]
    recipes: Mapping[str, Recipe]
    composer: Composer


@dataclass(eq=False)
class Composer:
    """Counts models under every reading of their family; each host, block and layer is counted only once."""

    spaces: Mapping[str, Readings]
    _hosts: Hosts = field(default_factory=Hosts)
    _stacks: Stacks = field(default_factory=Stacks)
    _outside: Outside = field(default_factory=Outside)
    _known: dict[Recipe, Amounts] = field(default_factory=dict)

    def table(self, recipe: Recipe) -> Amounts:
        """Return the amounts, (readings, amounts), one row where no reading changes the model. Raises BuildError."""
        if recipe not in self._known:
            self._known[recipe] = self._compose(recipe)
        return self._known[recipe]

    def expect(self, recipes: Iterable[Recipe]) -> None:
        """Say which models will be asked for, so that those of code from outside are counted by one process."""
        self._outside.expect({recipe: self._readings_of(recipe) for recipe in recipes if recipe.runs_code})

    def _readings_of(self, recipe: Recipe) -> Readings | None:
        return None if recipe.family_name is None else self.spaces[recipe.family_name]

    def mlps(self, recipe: Recipe) -> tuple[str, ...]:
        """Return the paths of the MLPs that IMLP blocks replace; none for a recipe without such blocks."""
        return self._hosts.mlps(recipe) if recipe.imlp is not None else ()

    def side(self, recipe: Recipe) -> int | None:
        """Return the side of the square images that a model takes; None if it takes no images, or others."""
        if recipe.image is not None:
            return recipe.image[0] if recipe.image[0] == recipe.image[1] else None
        match recipe.host.traits().reads:
            case ImageInput((height, width)):
                return height if height == width else None
            case OwnImageInput():
                return self._hosts.side(recipe)
            case FeatureMapInput() | TokenInput() | OwnInput():
                return None
            case other:
                assert_never(other)

    def _compose(self, recipe: Recipe) -> Amounts:
        if recipe.runs_code:
            return self._outside.count(recipe, self._readings_of(recipe))
        try:
            match recipe.family:
                case None | OwnFamily():  # a block whose code may not be run is refused there
                    return self._hosts.as_it_is(recipe)[np.newaxis]
                case Family.IMLP:
                    return self._hosts.with_blocks(recipe, self.spaces[Family.IMLP])
                case Family.RESMLP | Family.TEXT as family:
                    return self._stacks.with_layers(recipe, self.spaces[family])
                case other:
                    assert_never(other)
        except AuditError:
            raise
        except Exception as error:  # whatever a host's code raises is a result of its rows, not the end of the search
            raise BuildError(describe_failure(recipe, error)) from error


def compose(rows: Sequence[RowRef], *, free_widths: bool = False) -> Composition:
    """Return the problem that the counted numbers of some rows pose.

    With `free_widths`, a D_C that a recipe of gMLP for text says is for the readings to say as well. A row without a
    model or a counted number, or whose model cannot be built or counted, is refused with the reason.
    """
    asked = [(row, image, _try_recipe(row, image, free_widths)) for row in rows for image in images_of(row) or [None]]
    recipes = [(row.paper.id, recipe) for row, _, recipe in asked if isinstance(recipe, Recipe)]
    own = _own_families(recipes)
    papers = list({row.paper.id: row.paper for row in rows}.values())
    spaces: dict[str, Readings] = {family: readings_of(family, named_parts(papers, family)) for family in Family}
    spaces |= {name: readings_of(family) for name, (_, family) in own.items()}
    composer = Composer(spaces)
    composer.expect(recipe for _, recipe in recipes)
    posed: list[Posed] = []
    refused: dict[str, str] = {}
    for row, image, recipe in asked:
        try:
            if isinstance(recipe, BuildError):
                raise recipe
            _refuse_a_second_block_of_a_name(row.paper.id, recipe, own)
            posed.append(Posed(row, recipe, composer.table(recipe), image))
        except BuildError as error:
            refused[posed_id(row, image)] = str(error)
    failed = tuple(
        name for row, image, recipe in asked if isinstance(recipe, Recipe) and (name := posed_id(row, image)) in refused
    )
    return Composition(pose(posed, composer.spaces), refused, failed, {one.id: one.recipe for one in posed}, composer)


def _own_families(recipes: Iterable[tuple[str, Recipe]]) -> dict[str, tuple[str, OwnFamily]]:
    """Return the first family of each name that blocks from outside have, and its paper."""
    own: dict[str, tuple[str, OwnFamily]] = {}
    for paper, recipe in recipes:
        if isinstance(recipe.family, OwnFamily):
            own.setdefault(recipe.family.name, (paper, recipe.family))
    return own


def _refuse_a_second_block_of_a_name(paper: str, recipe: Recipe, own: Mapping[str, tuple[str, OwnFamily]]) -> None:
    """Raise BuildError for a block that is another paper's, by its name: readings of the two would be one."""
    family = recipe.family
    if isinstance(family, OwnFamily) and own[family.name] != (paper, family):
        raise BuildError(f"{own[family.name][0]} has a block {family.name} too; solve one paper at a time")


def _try_recipe(row: RowRef, image: Size | None, free_widths: bool) -> Recipe | BuildError:
    try:
        return _recipe(row, image, free_widths)
    except BuildError as error:
        return error


def _recipe(row: RowRef, image: Size | None, free_widths: bool) -> Recipe:
    """Return how the model of a row is built; raises BuildError for a row that poses no problem."""
    recipe = row.row.model
    if recipe is None:
        raise BuildError("the row has no model")
    if not images_of(row):
        raise BuildError("the row prints no parameters and no FLOPs")
    if image is not None:
        recipe = recipe.with_image(image)
    freed = recipe.host.with_open_width() if free_widths and isinstance(recipe.host, Stack) else None
    return recipe if freed is None else recipe.model_copy(update={"host": freed})
