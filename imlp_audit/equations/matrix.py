"""Matrices of rounded numbers, so that a formula is written as it is printed: `x + (b @ z).map(gelu)`, `w.T @ x`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import overload

from imlp_audit.equations.rounded import Number, Rounded, total

RoundedVector = Sequence[Rounded]


class RoundedMatrix(Sequence[list[Rounded]]):
    """A matrix as its rows; a sequence of them."""

    def __init__(self, rows: Iterable[Iterable[Rounded]]) -> None:
        self._rows = [list(row) for row in rows]

    @overload
    def __getitem__(self, index: int) -> list[Rounded]: ...
    @overload
    def __getitem__(self, index: slice) -> RoundedMatrix: ...
    def __getitem__(self, index: int | slice) -> list[Rounded] | RoundedMatrix:
        """Return a row, or some rows."""
        return RoundedMatrix(self._rows[index]) if isinstance(index, slice) else self._rows[index]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    @property
    def T(self) -> RoundedMatrix:  # noqa: N802 - its name in formulas, and torch's
        """The transpose; its rows are the columns."""
        return RoundedMatrix(zip(*self._rows, strict=True))

    @overload
    def __matmul__(self, other: RoundedMatrix) -> RoundedMatrix: ...
    @overload
    def __matmul__(self, other: list[Rounded]) -> list[Rounded]: ...
    def __matmul__(self, other: RoundedMatrix | list[Rounded]) -> RoundedMatrix | list[Rounded]:
        """Multiply with a matrix, or with a vector."""
        if isinstance(other, RoundedMatrix):
            columns = other.T
            return RoundedMatrix([dot(row, column) for column in columns] for row in self)
        return [dot(row, other) for row in self]

    def __add__(self, other: RoundedMatrix) -> RoundedMatrix:
        """Add, element by element."""
        return RoundedMatrix(add(*rows) for rows in zip(self, other, strict=True))

    def __mul__(self, other: RoundedMatrix) -> RoundedMatrix:
        """Multiply element by element."""
        return RoundedMatrix([a * b for a, b in zip(*rows, strict=True)] for rows in zip(self, other, strict=True))

    def scale(self, factor: Number) -> RoundedMatrix:
        """Multiply each element with a factor."""
        return self.map(lambda element: factor * element)

    def map(self, function: Callable[[Rounded], Rounded]) -> RoundedMatrix:
        """Apply a function to each element."""
        return RoundedMatrix(map(function, row) for row in self)

    def map_rows(self, function: Callable[[list[Rounded]], RoundedVector]) -> RoundedMatrix:
        """Apply a function to each row."""
        return RoundedMatrix(map(function, self))


def dot(left: RoundedVector, right: RoundedVector) -> Rounded:
    """Return left' right."""
    return total(a * b for a, b in zip(left, right, strict=True))


def add(left: RoundedVector, right: RoundedVector) -> list[Rounded]:
    """Add two vectors."""
    return [a + b for a, b in zip(left, right, strict=True)]
