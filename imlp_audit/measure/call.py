"""One call of an operation as a formula sees it: names and shapes, no tensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import TypeAlias


class Shape(tuple[int, ...]):
    """The shape of a tensor argument, kept apart from plain lists of integers such as a stride."""

    @property
    def numel(self) -> int:
        """Number of elements."""
        return prod(self)


Argument: TypeAlias = "Shape | int | float | str | tuple[Argument, ...] | None"
"""A tensor's shape, a scalar, None, or a list of these; any other kind of argument is kept as its text."""


@dataclass(frozen=True)
class Call:
    """A call of the operation `name` (`aten::linear`), with its arguments under the names of its schema."""

    name: str
    arguments: Mapping[str, Argument]
    outputs: tuple[Shape, ...]

    @property
    def out(self) -> Shape:
        """Shape of the first output."""
        return self.outputs[0]

    def shape(self, argument: str) -> Shape:
        """Shape of a tensor argument; raises TypeError where it isn't one."""
        value = self.arguments[argument]
        if not isinstance(value, Shape):
            raise TypeError(f"{self.name}: {argument} is not a tensor")
        return value

    def shapes(self, argument: str) -> tuple[Shape, ...]:
        """Shapes of a list of tensors; raises TypeError where it isn't one."""
        value = self.arguments[argument]
        if not isinstance(value, tuple) or isinstance(value, Shape):
            raise TypeError(f"{self.name}: {argument} is not a list of tensors")
        return tuple(shape for shape in value if isinstance(shape, Shape))

    def given(self, argument: str) -> bool:
        """Whether an optional argument is present: not None, not False, not zero."""
        return self.arguments[argument] not in (None, False)

    @property
    def operand(self) -> Shape:
        """Shape of the first tensor among the arguments."""
        return next(value for value in self.arguments.values() if isinstance(value, Shape))
