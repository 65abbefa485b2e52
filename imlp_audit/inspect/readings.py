"""Which readings of the IMLP block the shapes of a checkpoint allow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from imlp_audit.checkpoint.fitting import Fit, compare
from imlp_audit.checkpoint.misfits import MisfitKind, Shapes
from imlp_audit.models.build import Builder
from imlp_audit.models.imlp import Imlp
from imlp_audit.models.reading import AnyReading, ClassToken, Reading, Value
from imlp_audit.models.recipe import Recipe
from imlp_audit.solve.space import readings_of

_TOKEN = "class_token"  # the one axis that is not of the block
_ROUNDS = 2  # AGeLU's coefficients in the depthwise block depend on two axes


@dataclass(frozen=True)
class AllowedReadings:
    """The values of each axis that the shapes allow, and one reading with such values."""

    one: Reading
    values: Mapping[str, tuple[Value, ...]]

    @property
    def count(self) -> int:
        """How many readings these are."""
        return prod(map(len, self.values.values()))

    @property
    def open(self) -> Mapping[str, tuple[Value, ...]]:
        """The axes that the shapes do not decide."""
        return {axis: values for axis, values in self.values.items() if len(values) > 1}

    def has(self, reading: AnyReading | None) -> bool:
        """Say whether a reading is among them."""
        return all(getattr(reading, axis, None) in values for axis, values in self.values.items())


def find_allowed_readings(
    held: Shapes, found: Fit, recipe: Recipe, near: Reading, builder: Builder
) -> AllowedReadings | None:
    """Return the readings whose block and class token have the checkpoint's shapes; None if there are none.

    `found` is how the checkpoint fits under a near reading. From there the axes are tried one by one, since each has
    tensors of its own, except that two axes together decide about AGeLU in the depthwise block. The caller checks
    whether the whole model fits.
    """
    blocks = _Blocks(builder, recipe, near)
    wrong = (name for problem in found.problems if problem.kind is MisfitKind.MISSHAPED for name in problem.names)
    if any(name.startswith(f"{blocks.path}.") and ".agelu" not in name for name in wrong):
        return None  # a width or a kernel, which no reading changes
    ours = {found.names[name]: shape for name, shape in held.items() if name in found.names}
    own = {name: shape for name, shape in ours.items() if name.startswith(f"{blocks.path}.")}
    axes = {axis: values for axis, values in readings_of("imlp").axes.items() if axis != _TOKEN}
    one = near
    for axis, values in _ROUNDS * list(axes.items()):
        one = min((_with(one, axis, value) for value in values), key=lambda tried: _misfit(own, blocks.shapes(tried)))
    if _misfit(own, blocks.shapes(one)) != (0, 0):
        return None
    same = {axis: tuple(v for v in vs if blocks.same(one, _with(one, axis, v))) for axis, vs in axes.items()}
    has_token = "cls_token" in found.names.values()
    tokens = tuple(token for token in ClassToken if blocks.has_token(token) == has_token)
    return AllowedReadings(replace(one, class_token=tokens[0]), {**same, _TOKEN: tokens}) if tokens else None


def _with(reading: Reading, axis: str, value: Value) -> Reading:
    changed: dict[str, Any] = {axis: value}
    return replace(reading, **changed)


def _misfit(held: Shapes, wanted: Shapes) -> tuple[int, int]:
    """Return how many tensors only one side has, and how many have other shapes."""
    problems = compare(held, wanted, {}).problems
    wrong = sum(len(problem.names) for problem in problems if problem.kind is MisfitKind.MISSHAPED)
    return sum(len(problem.names) for problem in problems) - wrong, wrong


class _Blocks:
    """The shapes of a model's first IMLP block under any reading, each built once."""

    def __init__(self, builder: Builder, recipe: Recipe, near: Reading) -> None:
        with builder.variant(recipe, near) as variant:
            self.path = next(p for p in variant.mlps if isinstance(variant.model.get_submodule(p), Imlp))
        assert recipe.mlp is not None
        one_site = recipe.mlp.model_copy(update={"sites": (self.path,)})
        self._recipe, self._builder = recipe.model_copy(update={"mlp": one_site}), builder
        self._near, self._known = near, dict[Reading, Shapes]()

    def shapes(self, reading: Reading) -> Shapes:
        """Return the shapes of the first block's tensors by their names in the model."""
        if reading not in self._known:
            with self._builder.variant(self._recipe, reading) as variant:
                state = variant.model.get_submodule(self.path).state_dict(prefix=f"{self.path}.")
            self._known[reading] = {name: tuple(tensor.shape) for name, tensor in state.items()}
        return self._known[reading]

    def same(self, one: Reading, other: Reading) -> bool:
        """Say whether no shape tells two readings apart."""
        return self.shapes(one) == self.shapes(other)

    def has_token(self, token: ClassToken) -> bool:
        """Say whether the host has a class token under a reading that keeps or removes it."""
        with self._builder.variant(self._recipe, replace(self._near, class_token=token)) as variant:
            return getattr(variant.model, "cls_token", None) is not None
