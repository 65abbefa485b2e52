"""Which numbers are of the same thing: those of two rows, by what their columns measure, and else by their columns'
ids; and scores of rows that have one model and one training.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

from imlp_audit.spec.columns import (
    AccuracyColumn,
    Column,
    FlopsColumn,
    MemoryColumn,
    ParametersColumn,
    SettingColumn,
    UncountedColumn,
    details_of,
    image_of,
)
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.references import CellRef, RowRef, repeated_row, rows_of


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
        candidates, are_twins = (
            ([name], hold_the_same) if name in other.row.printed else (other.row.printed, measure_the_same)
        )
        for twin in candidates:
            theirs = other.table.value.columns[twin]
            if are_twins(column, theirs):
                yield Twins(CellRef(row, name), CellRef(other, twin), _describe(column, theirs, name))
                break


def find_alike(paper: Paper, known: Sequence[Paper]) -> Iterator[Twins]:
    """Yield each score or cost of a model that the paper prints again in a row that does not say it repeats another.

    The twin is in the first row of the same recipe whose model was trained alike, as far as the rows say.
    """
    trained_alike: defaultdict[object, list[tuple[RowRef, str | None]]] = defaultdict(list)
    for row in rows_of(paper):
        if row.row.model is None:
            continue
        earlier = trained_alike[row.row.model, row.row.training]
        repeated = repeated_row(row, known)
        said = {twins.cell.column_id for twins in find_twins(row, repeated)} if repeated else set()
        for name, column in _printed(row):
            others = (one for one, repeats in earlier if repeats != row.id)
            twin = next((cell for one in others for cell in _measured_alike(one, column)), None)
            if twin is not None and name not in said:
                matched_by = (
                    f"they are of one model, no row says it was trained differently, and {_describe_all(column)}"
                )
                yield Twins(CellRef(row, name), twin, matched_by)
        earlier.append((row, repeated.id if repeated is not None else None))


def _measured_alike(row: RowRef, column: Column) -> Iterator[CellRef]:
    """Yield the cells of a row that measure what a column does; sizes and settings follow from the model itself."""
    if not column.measure.totalled and not isinstance(column, SettingColumn):
        yield from (CellRef(row, name) for name, theirs in _printed(row) if measure_the_same(column, theirs))


def _printed(row: RowRef) -> Iterator[tuple[str, Column]]:
    return ((name, row.table.value.columns[name]) for name in row.row.printed)


def hold_the_same(one: Column, other: Column) -> bool:
    """Return whether nothing that is known of two columns contradicts that they measure the same thing."""
    ours, theirs = details_of(one), details_of(other)
    if image_of(one) != image_of(other):
        return False
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
    return _describe_all(one)


def _describe_all(one: Column) -> str:
    """Say what two columns measure that measure the same."""
    details = ", ".join(f"{key} {value}" for key, value in details_of(one).items())
    return f"both are {one.measure}{f' ({details})' if details else ''}"
