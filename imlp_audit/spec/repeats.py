"""Which numbers of two rows are of the same thing: by what their columns measure, and else by their columns' ids."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from imlp_audit.spec.references import CellRef, RowRef
from imlp_audit.spec.tables import (
    AccuracyColumn,
    Column,
    FlopsColumn,
    MemoryColumn,
    ParametersColumn,
    SettingColumn,
    UncountedColumn,
    details_of,
)


@dataclass(frozen=True)
class Twins:
    """Two cells that print the same thing, and what they were matched by."""

    cell: CellRef
    other: CellRef
    matched_by: str


def find_twins(row: RowRef, other: RowRef) -> Iterator[Twins]:
    """Yield the cells of a row that another row prints too, each with its twin.

    A column of the same id comes first, then one that measures the same.
    """
    for name, column in _printed(row):
        candidates = {name: other.row.printed[name]} if name in other.row.printed else other.row.printed
        for twin in candidates:
            theirs = other.table.value.columns[twin]
            if (twin == name and hold_the_same(column, theirs)) or (twin != name and measure_the_same(column, theirs)):
                yield Twins(CellRef(row, name), CellRef(other, twin), _describe(column, theirs, name))
                break


def _printed(row: RowRef) -> Iterator[tuple[str, Column]]:
    return ((name, row.table.value.columns[name]) for name in row.row.printed)


def hold_the_same(one: Column, other: Column) -> bool:
    """Return whether nothing that is known of two columns contradicts that they measure the same thing."""
    ours, theirs = details_of(one), details_of(other)
    return one.measure is other.measure and all(ours[name] == theirs[name] for name in ours.keys() & theirs.keys())


def measure_the_same(one: Column, other: Column) -> bool:
    """Return whether two columns measure the same thing, by all that has to be known for that."""
    return is_specified(one) and is_specified(other) and hold_the_same(one, other)


def is_specified(column: Column) -> bool:
    """Return whether it is known what exactly a column measures."""
    match column:
        case ParametersColumn() | FlopsColumn() | SettingColumn() | AccuracyColumn():
            return True
        case MemoryColumn():
            return column.hardware is not None
        case UncountedColumn():
            return column.hardware is not None and column.batch is not None
        case _:
            assert_never(column)


def _describe(one: Column, other: Column, name: str) -> str:
    """Say by what two columns were matched."""
    if not measure_the_same(one, other):
        return f"both are called {name}"
    details = ", ".join(f"{key} {value}" for key, value in details_of(one).items())
    return f"both are {one.measure}{f' ({details})' if details else ''}"
