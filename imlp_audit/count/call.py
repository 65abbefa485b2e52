"""A call of an operation as a formula sees it (names and shapes, no tensors), and tables of formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from imlp_audit.count.operations import Work


class TensorShape(tuple[int, ...]):
    """The shape of a tensor argument, a type of its own: a plain list of integers may be a stride."""

    @property
    def numel(self) -> int:
        """Number of elements."""
        return prod(self)


Argument: TypeAlias = "TensorShape | int | float | str | tuple[Argument, ...] | None"
"""A tensor's shape, a scalar, None, or a list of these; any other kind of argument is kept as its text."""


@dataclass(frozen=True)
class Call:
    """A call of the operation `name` (`aten::linear`), with its arguments under the names of its schema."""

    name: str
    arguments: Mapping[str, Argument]
    outputs: tuple[TensorShape, ...]

    @property
    def out(self) -> TensorShape:
        """Shape of the first output."""
        return self.outputs[0]

    def shape(self, argument: str) -> TensorShape:
        """Shape of a tensor argument; raises TypeError if it isn't a tensor."""
        value = self.arguments[argument]
        if not isinstance(value, TensorShape):
            raise TypeError(f"{self.name}: {argument} is not a tensor")
        return value

    def shapes(self, argument: str) -> tuple[TensorShape, ...]:
        """Shapes of a list of tensors; raises TypeError if it isn't a list."""
        value = self.arguments[argument]
        if not isinstance(value, tuple) or isinstance(value, TensorShape):
            raise TypeError(f"{self.name}: {argument} is not a list of tensors")
        return tuple(shape for shape in value if isinstance(shape, TensorShape))

    def has(self, argument: str) -> bool:
        """Whether an optional argument is present: not None, not False, not zero."""
        return self.arguments[argument] not in (None, False)

    @property
    def operand(self) -> TensorShape:
        """Shape of the first tensor among the arguments."""
        return next(value for value in self.arguments.values() if isinstance(value, TensorShape))


Formula: TypeAlias = Callable[[Call], Work]
FormulaTable: TypeAlias = Mapping[str, Formula]
"""Formulas by the name of their operation."""


def each(names: str, formula: Formula) -> FormulaTable:
    """One formula for the aten operations named in a space-separated text."""
    return join(*({f"aten::{name}": formula} for name in names.split()))


def join(*tables: FormulaTable) -> FormulaTable:
    """All entries of all tables; raises ValueError if two tables name the same operation."""
    joined: dict[str, Formula] = {}
    for table in tables:
        if repeated := joined.keys() & table.keys():
            raise ValueError(f"registered twice: {', '.join(sorted(repeated))}")
        joined |= table
    return joined
