"""A problem: printed cells to explain, and rows with their counts under every reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from imlp_audit.errors import SolverError
from imlp_audit.numbers.printed import Rounding

Integers: TypeAlias = NDArray[np.int64]
Kind: TypeAlias = Literal["parameters", "flops"]

WEIGHTS = tuple(range(7))
"""The weights that a class of work may have."""


@dataclass(frozen=True, eq=False)
class CountedRow:
    """A row of the selected tables with a model.

    `group` names the choice of readings it takes ("imlp", "text", "resmlp"), "" where no reading changes it.
    `parameters` has, by parameter convention, one value a reading of the group; `work` the ledger's totals,
    (readings, classes), with the classes in the order of the problem's. Both have one reading for the group "".
    `totals` are the FLOPs by named conventions, as `parameters` are, for those who want to search under one of them.
    """

    id: str
    group: str
    parameters: Mapping[str, Integers]
    work: Integers
    totals: Mapping[str, Integers] = field(default_factory=dict)


@dataclass(frozen=True)
class Cell:
    """A printed number of the row at an index.

    `ranges` are, by rounding rule, the integers that print so, both ends included; `step` is one unit of the last
    digit, in base units.
    """

    id: str
    row: int
    kind: Kind
    ranges: Mapping[Rounding, tuple[int, int]]
    step: Fraction


@dataclass(frozen=True)
class Space:
    """The readings of a group: every combination of its axes' values, in C order (the last axis fastest)."""

    axes: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of values of each axis."""
        return tuple(len(values) for _, values in self.axes)

    def values_at(self, index: int) -> dict[str, str]:
        """Return the value of each axis of the reading at an index."""
        places = np.unravel_index(index, self.shape)
        return {name: values[int(place)] for (name, values), place in zip(self.axes, places, strict=True)}

    @cached_property
    def places(self) -> Integers:
        """The place of every reading on every axis, (axes, readings)."""
        return np.indices(self.shape).reshape(len(self.shape), -1)

    def count_apart(self, index: int) -> Integers:
        """Return on how many axes each reading differs from the one at an index."""
        apart: Integers = (self.places != self.places[:, index, np.newaxis]).sum(axis=0)
        return apart


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """Rows, cells, the readings of each group, the classes of work, and the spec's named readings.

    `named` maps a name to the index of the reading in each group that it says something about; `text` is the name
    of what the text says. A class of work has one of the weights `allowed` for it, or of WEIGHTS.
    """

    rows: tuple[CountedRow, ...]
    cells: tuple[Cell, ...]
    spaces: Mapping[str, Space]
    classes: tuple[str, ...]
    named: Mapping[str, Mapping[str, int]]
    text: str | None = None
    allowed: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def roundings(self) -> tuple[Rounding, ...]:
        """The rounding rules that the cells know."""
        return tuple(self.cells[0].ranges)

    @property
    def conventions(self) -> tuple[str, ...]:
        """The parameter conventions that some row with a printed size knows."""
        rows = (self.rows[cell.row] for cell in self.cells if cell.kind == "parameters")
        return tuple(dict.fromkeys(name for row in rows for name in row.parameters))

    def weights_of(self, name: str) -> tuple[int, ...]:
        """Return the weights that a class of work may have."""
        return self.allowed.get(name, WEIGHTS)

    def where(self, wanted: Callable[[Cell], bool]) -> SearchProblem:
        """Return the problem that some of the cells pose."""
        return replace(self, cells=tuple(filter(wanted, self.cells)))

    def only(self, kind: Kind) -> SearchProblem:
        """Return the problem of the parameters alone, or of the FLOPs alone."""
        return self.where(lambda cell: cell.kind == kind)

    def under(self, convention: str) -> SearchProblem:
        """Return the problem in which FLOPs are counted by a named convention, and no weight is open.

        Raises SolverError where a row has no total under it.
        """
        without = [row.id for row in self.rows if convention not in row.totals]
        if without:
            raise SolverError(f"{convention} has no total of {', '.join(without)}")
        rows = tuple(replace(row, work=row.totals[convention][:, np.newaxis]) for row in self.rows)
        return replace(self, rows=rows, classes=(convention,), allowed={convention: (1,)})
