"""How throughput is measured, as the user chooses, and which cells, from the spec alone. Imports no framework."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, TypeAlias

from imlp_audit.errors import UsageError, did_you_mean
from imlp_audit.numbers.words import count_of
from imlp_audit.processes.limits import cores
from imlp_audit.spec.columns import Measure
from imlp_audit.spec.paper import CellRef, Paper, RowRef, rows_of_table
from imlp_audit.spec.schema import PrintedTable
from imlp_audit.spec.tree import Located

FEWEST_PAIRS = 6  # the range of five pairs holds the median with 94 %, so they give no 95 % interval
CPUINFO = Path("/proc/cpuinfo")
NAMED_AFTER = {"cpu": "cpu", "cuda": "gpu"}
"""The name that papers give to the column of a device."""

ModelDtype: TypeAlias = Literal["float32", "bfloat16", "float16"]
"""The type of weights and images, by torch's name."""


@dataclass(frozen=True)
class Setup:
    """How models are run and timed; `threads` is torch's own choice if None.

    `batch` is the images per forward pass. `reading` is the declared reading that models are built under, the paper's
    default if None. With `same_hardware` the user states that hardware, software and settings are the paper's.
    """

    batch: int = 32
    pairs: int = 10
    device: str = "cpu"
    threads: int | None = None
    dtype: ModelDtype = "float32"
    reading: str | None = None
    same_hardware: bool = False


def hardware(device: str) -> str:
    """Return the names of the processor, with its usable cores, and of the GPU if models run on one."""
    cpu = f"{processor(CPUINFO)}, {count_of(cores(), 'core')}"
    if device == "cpu":
        return cpu
    import torch

    return f"{torch.cuda.get_device_name()} ({cpu})"


def processor(cpuinfo: Path) -> str:
    """Return the processor's model name from Linux's list of processors, elsewhere from Python."""
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine() or "an unnamed processor"


@dataclass(frozen=True)
class RowComparison:
    """A printed throughput, and the row that its model is compared with, if any."""

    cell: CellRef
    base: RowRef | None


def find_table(paper: Paper, name: str) -> Located[PrintedTable]:
    """Return a table by its id. Raises UsageError naming the nearest."""
    tables = {table.value.table: table for table in paper.tables}
    if name not in tables:
        raise UsageError(f"{paper.id} has no table {name!r}; {did_you_mean(name, list(tables), 'its tables')}")
    return tables[name]


def find_column(table: PrintedTable, wanted: str | None, device: str) -> str:
    """Return the throughput column: the named one, the only one, or the one named after the device.

    Raises UsageError listing the columns.
    """
    found = [name for name, column in table.columns.items() if column.measure is Measure.THROUGHPUT]
    if not found:
        raise UsageError(f"table {table.table} has no throughput column")
    chosen = wanted or (found[0] if len(found) == 1 else NAMED_AFTER[device])
    if chosen not in found:
        hint = did_you_mean(chosen, found, "its throughput columns")
        raise UsageError(f"table {table.table} has no throughput column {chosen!r}; {hint}; choose with --column")
    return chosen


def plan_comparisons(
    paper: Paper, table: Located[PrintedTable], column: str, globs: Sequence[str] = (), against: str | None = None
) -> tuple[RowComparison, ...]:
    """Return the cells to measure, in the table's order, each compared with `against` or else its row's baseline.

    `globs` select rows, by their ids in the table or in full. Raises UsageError if none is left.
    """
    rows = {row.row.id: row for row in rows_of_table(paper, table)}
    cells = [cell for row in rows.values() if (cell := row.cell(column)) is not None and _matches(row, globs)]
    if not cells:
        named = "".join(f" --rows {glob}" for glob in globs)
        raise UsageError(
            f"no row with a number in {column!r} is selected{named and f' by{named}'}; rows: {', '.join(rows)}"
        )
    if against is not None and against not in rows:
        raise UsageError(f"--against: no row {against!r}; {did_you_mean(against, list(rows), 'rows')}")
    other = rows[against] if against is not None else None
    if other is not None and other.row.model is None:
        raise UsageError(f"--against: the spec has no model for {other.id}; name a row that has one")
    return tuple(RowComparison(cell, _base(cell.row, other)) for cell in cells)


def _matches(row: RowRef, globs: Sequence[str]) -> bool:
    return not globs or any(fnmatchcase(name, glob) for name in (row.row.id, row.id) for glob in globs)


def _base(row: RowRef, against: RowRef | None) -> RowRef | None:
    """Return the row to compare with: not the row itself, and only one that has a model."""
    base = against or row.baseline
    return base if base is not None and base.id != row.id and base.row.model is not None else None
