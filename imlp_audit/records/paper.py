"""A paper as a report heads it: its tables, columns, rows and declared readings."""

from __future__ import annotations

from pydantic import Field

from imlp_audit.records.base import ByName, PaperId, Record


class ColumnHead(Record):
    """A column of a table as the report heads it; `measure` is what it holds: "parameters", "flops", "score", ..."""

    id: str
    heading: str
    unit: str
    measure: str | None = None


class CounterHead(Record):
    """The convention that a row states for its numbers of a measure, which its column's need not be, and why."""

    measure: str
    convention: str
    because: str


class RowHead(Record):
    """A row of a table as the report labels it; `baseline` is the row that its printed changes compare it with."""

    id: str
    label: str
    baseline: str | None = None
    counters: tuple[CounterHead, ...] | None = None


class TableHead(Record):
    """A table of a paper: its title, columns and rows, so that a report can lay out its cells.

    `name` is what the paper calls it where that is not "Table" and its id.
    """

    id: str
    name: str | None = None
    title: str
    columns: tuple[ColumnHead, ...]
    rows: tuple[RowHead, ...]

    @property
    def called(self) -> str:
        """What the paper calls it."""
        return self.name or f"Table {self.id}"


class AxisHead(Record):
    """What a reading answers to one open question, and the place in the text that decides it."""

    axis: str
    value: str
    because: str


class ReadingHead(Record):
    """A declared reading."""

    name: str
    axes: tuple[AxisHead, ...]


class PaperHead(Record):
    """A paper that was audited, and how its numbers are read: of each list the first is the default.

    `lacks` says what the text that was audited lacks, and what that means for the audit.
    """

    id: PaperId
    title: str
    authors: str
    version: str
    url: str | None = None
    lacks: str | None = None
    rounding: tuple[str, ...]
    rounding_of: ByName[tuple[str, ...]] = Field(default_factory=dict)
    parameters: tuple[str, ...]
    flops: tuple[str, ...]
    readings: tuple[ReadingHead, ...]
    tables: tuple[TableHead, ...]
