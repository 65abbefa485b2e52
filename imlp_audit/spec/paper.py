"""A paper as its specs describe it, its rows and cells, and looking these up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from imlp_audit.claims.catalogue import AnyClaim
from imlp_audit.errors import Problem
from imlp_audit.models.host import Size
from imlp_audit.models.readings import OwnFamily
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.recipe_changes import write_value
from imlp_audit.numbers.parsing import NumberForm, parse_printed
from imlp_audit.numbers.printed import Printed, count_padding
from imlp_audit.records.check import Source
from imlp_audit.records.finding import Lock
from imlp_audit.records.result import AxisHead, ColumnHead, CounterHead, PaperHead, ReadingHead, RowHead, TableHead
from imlp_audit.spec.claim_entries import ClaimEntry
from imlp_audit.spec.columns import Column, form_of, image_of
from imlp_audit.spec.fields import Names
from imlp_audit.spec.schema import (
    NOT_STATED,
    About,
    Choice,
    Coverage,
    EquationEntry,
    FindingEntry,
    Preprocessing,
    PrintedTable,
    Row,
    System,
)
from imlp_audit.spec.tree import Located, Node, mark_at, parse_tree

_FEW = 20  # rows; if more have one label, ids tell them apart


@dataclass(frozen=True)
class FindingsFile:
    """The file that holds a paper's findings, or would hold them, and the lock beside it.

    `problem` says why the lock cannot be used; `text` is what is written in it.
    """

    path: Path
    shown_as: str
    lock: Lock | None = None
    problem: Problem | None = None
    text: str = ""

    @property
    def lock_path(self) -> Path:
        """The lock of `findings.yaml` is `findings.lock`."""
        return self.path.with_suffix(".lock")

    @property
    def lock_shown_as(self) -> str:
        """The lock's name as messages show it."""
        return str(Path(self.shown_as).with_suffix(".lock").as_posix())

    def source_of(self, entry: str) -> Source:
        """Return the place in the lock of a check, or of a finding's evidence."""
        lock = self.lock or Lock(paper="")
        held: dict[str, Mapping[str, object]] = {"checks": lock.checks, "evidence": lock.evidence}
        places = (self.line_of((key, entry)) for key, entries in held.items() if entry in entries)
        return Source(file=self.lock_shown_as, line=next(places, 1))

    def line_of(self, place: Sequence[str | int]) -> int:
        """Return the line of a value in the lock by its keys, or of what should hold it: JSON is YAML."""
        return mark_at(self._tree, place, key=True).line if self._tree is not None else 1

    @cached_property
    def _tree(self) -> Node | None:
        return parse_tree(self.text, self.lock_shown_as)[0]


@dataclass(frozen=True, eq=False)  # two papers are never compared, and what is found out about one is kept by it
class Paper:
    """Everything that is known of a paper: its specs, and the claims about functions that its folder holds.

    `folder` is where its Python may lie: none for a paper that shares its folder with files of others. `code` is the
    folder whose Python is run for it, such as the installed paper's that it is a copy of; none where it is not trusted.
    `findings_file` is where its findings are, or would be written. `files` are its specs, and how reports show them.
    """

    id: str
    about: Located[About]
    tables: tuple[Located[PrintedTable], ...]
    claims: tuple[Located[ClaimEntry], ...]
    findings: tuple[Located[FindingEntry], ...]
    findings_file: FindingsFile
    coverage: tuple[Located[Coverage], ...]
    systems: tuple[Located[System], ...] = ()
    preprocessing: tuple[Located[Preprocessing], ...] = ()
    shared: tuple[Located[EquationEntry], ...] = ()
    equations: tuple[AnyClaim, ...] = ()
    folder: Path | None = None
    code: Path | None = None
    files: tuple[tuple[Path, str], ...] = ()

    @cached_property
    def rows(self) -> tuple[RowRef, ...]:
        """All rows in order."""
        return tuple(row for table in self.tables for row in rows_of_table(self, table))

    @cached_property
    def row_by_id(self) -> dict[str, RowRef]:
        """The rows by their full ids; the first where two have the same, which is a problem of its own."""
        return {row.id: row for row in reversed(self.rows)}

    @cached_property
    def padding(self) -> Mapping[tuple[str, str], Mapping[str, int]]:
        """How many last digits of a total pad its column: by table and column, and by row."""
        return {
            (table.value.table, name): count_padding({row.row.id: row.as_written(name) for row in rows})
            for table in self.tables
            for name, column in table.value.columns.items()
            if column.measure.totalled and (rows := [r for r in rows_of_table(self, table) if name in r.row.printed])
        }

    @cached_property
    def row_names(self) -> Names:
        """The rows' full ids, which globs are matched with."""
        return Names(row.id for row in self.rows)

    @cached_property
    def rows_by_label(self) -> dict[tuple[str, str, str], list[RowRef]]:
        """The rows by their tables, labels and marks: a table may list several under one."""
        found: dict[tuple[str, str, str], list[RowRef]] = {}
        for row in self.rows:
            found.setdefault((row.table.value.table, row.full_label, row.row.mark), []).append(row)
        return found


@dataclass(frozen=True)
class RowRef:
    """A row in its table and paper."""

    paper: Paper
    table: Located[PrintedTable]
    index: int

    @property
    def row(self) -> Row:
        """The row's record."""
        return self.table.value.rows[self.index]

    @cached_property
    def id(self) -> str:
        """The row's id in full: paper/table/row."""
        return f"{self.paper.id}/{self.table.value.table}/{self.row.id}"

    @property
    def baseline(self) -> RowRef | None:
        """The row that this row's changes are from."""
        name = self.row.baseline
        return None if name is None else self.paper.row_by_id.get(f"{self.paper.id}/{self.table.value.table}/{name}")

    @property
    def full_label(self) -> str:
        """The row's label, after its baseline's if it only says what is added: `+ IMLP`, `w/ channel`."""
        label, base = self.row.label, self.baseline
        return f"{base.row.label} {label}" if base is not None and label.startswith(("+", "w/")) else label

    @property
    def cells(self) -> list[CellRef]:
        """The cells of the columns that the table has."""
        return [CellRef(self, name) for name in self.row.printed if name in self.table.value.columns]

    def cell(self, column: str) -> CellRef | None:
        """Return the cell of a column, where the row has one and the table has the column."""
        there = column in self.row.printed and column in self.table.value.columns
        return CellRef(self, column) if there else None

    def as_written(self, column: str) -> Printed:
        """Return the number in a column, all its digits taken for digits."""
        return parse_printed(self.row.printed[column], form_of(self.table.value.columns[column]))

    @property
    def place(self) -> str:
        """Its table and label, and what tells it from other rows of that label, as a reader would look for them."""
        return f"{self.table.value.called}, {self.full_label}{self.row.mark}{self._tell_apart()}"

    def _tell_apart(self) -> str:
        """Return the size of the row's images or else its id, where its table has other rows of its label."""
        alike = self.paper.rows_by_label[self.table.value.table, self.full_label, self.row.mark]
        if len(alike) == 1:
            return ""
        sizes = [one.row.model.image for one in alike[:_FEW] if one.row.model is not None]
        model = self.row.model
        by_size = model is not None and model.image is not None and len(set(sizes)) == len(alike)
        return f" (image {write_value(model.image)})" if model is not None and by_size else f" (row {self.row.id})"

    def source(self, *below: str | int) -> Source:
        """Return where in a file the row stands, or a value below it."""
        return self.table.source("rows", self.index, *below)

    def problem(self, message: str, *below: str | int) -> Problem:
        """Return a problem with the row, or with a value below it."""
        return self.table.problem(message, "rows", self.index, *below)


@dataclass(frozen=True)
class CellRef:
    """A printed number in its row."""

    row: RowRef
    column_id: str

    @property
    def column(self) -> Column:
        """The column's record."""
        return self.row.table.value.columns[self.column_id]

    @property
    def recipe(self) -> Recipe | None:
        """How the model that the number is of is built, on the column's images if it has its own."""
        recipe, image = self.row.row.model, image_of(self.column)
        return recipe if recipe is None or image is None else _at(recipe, image)

    @property
    def id(self) -> str:
        """The cell's id in full: paper/table/row/column."""
        return f"{self.row.id}/{self.column_id}"

    @property
    def place(self) -> str:
        """Its table, row and column, as a reader would look for them."""
        return f"{self.row.place}, {self.column.heading}"

    @property
    def printed(self) -> Printed:
        """The number, in the column's unit; zeros that pad the column are no digits."""
        number, key = self.row.as_written(self.column_id), (self.row.table.value.table, self.column_id)
        zeros = self.row.paper.padding.get(key, {}).get(self.row.row.id, 0)
        return replace(number, step=number.step * 10**zeros) if zeros else number

    @property
    def form(self) -> NumberForm:
        """What its text may look like."""
        return form_of(self.column)

    @property
    def unit(self) -> str:
        """The column's unit; none where the number states its own."""
        return "" if self.printed.unit else self.column.unit

    @property
    def delta(self) -> Printed | None:
        """The printed change from the baseline, in percent, where there is one."""
        text = self.row.row.delta.get(self.column_id)
        return parse_printed(text, "%") if text is not None else None


@cache
def _at(recipe: Recipe, image: Size) -> Recipe:
    return recipe.with_image(image)


def rows_of_table(paper: Paper, table: Located[PrintedTable]) -> list[RowRef]:
    """Return a table's rows in order."""
    return [RowRef(paper, table, index) for index in range(len(table.value.rows))]


def find_row(papers: Sequence[Paper], row_id: str) -> RowRef | None:
    """Return the row of a full id."""
    return next((paper.row_by_id[row_id] for paper in papers if row_id in paper.row_by_id), None)


def find_rows(papers: Sequence[Paper], glob: str) -> list[RowRef]:
    """Return the rows whose full id matches a glob, in the order of the tables."""
    return [paper.row_by_id[name] for paper in papers for name in paper.row_names.matching(glob)]


def find_cell(papers: Sequence[Paper], cell_id: str) -> CellRef | None:
    """Return the cell of a full id."""
    row_id, _, column = cell_id.rpartition("/")
    row = find_row(papers, row_id)
    return row.cell(column) if row is not None else None


def repeated_row(row: RowRef, papers: Sequence[Paper]) -> RowRef | None:
    """Return the row that this row prints again: its own word for it, or the row of the same id in its table's."""
    whole = row.table.value.repeats
    target = row.row.repeats or (f"{whole}/{row.row.id}" if whole else None)
    return find_row(papers, target) if target else None


def preprocessing_of(row: RowRef) -> tuple[Preprocessing, ...]:
    """Return what each source says on how a row's images are prepared; the first is what it is evaluated with."""
    entries = (entry.value for entry in row.paper.preprocessing)
    return tuple(entry for entry in entries if any(fnmatchcase(row.id, glob) for glob in entry.rows))


def models_of(paper: Paper) -> Iterator[tuple[Recipe, RowRef | Located[Any]]]:
    """Yield every recipe of a paper, in the order of its rows and systems, with the one that it is of."""
    yield from ((recipe, row) for row in paper.rows for recipe in (row.row.model, *row.row.candidates) if recipe)
    yield from ((system.value.model, system) for system in paper.systems)


def own_families(paper: Paper) -> tuple[OwnFamily, ...]:
    """Return the families of axes that a paper's own blocks declare, in the order of its models."""
    blocks = (recipe.own_block for recipe, _ in models_of(paper))
    return tuple(dict.fromkeys(one.family for one in blocks if one is not None and one.family is not None))


def paper_head(paper: Paper) -> PaperHead:
    """Return a paper's title and the outline of its tables."""
    about = paper.about.value
    shown = {name for name in PaperHead.model_fields if name in About.model_fields} - {"readings"}
    return PaperHead(
        id=paper.id,
        readings=tuple(_reading_heads(about, own_families(paper))),
        tables=tuple(_table_head(table.value) for table in paper.tables),
        **about.model_dump(mode="json", include=shown),
    )


def _reading_heads(about: About, own: Sequence[OwnFamily]) -> Iterator[ReadingHead]:
    """Yield the declared readings; where there are none, the defaults of the paper's own blocks."""
    readings = {name: reading.choices_with(own) for name, reading in about.readings.items()}
    axes_of_blocks = [axis for family in own for axis in family.axes]
    defaults = {axis: Choice[str](value=values[0], because=NOT_STATED) for axis, values in axes_of_blocks}
    for name, choices in (readings or ({"defaults": defaults} if defaults else {})).items():
        axes = (AxisHead(axis=a, value=str(c.value), because=c.because) for a, c in choices.items())
        yield ReadingHead(name=name, axes=tuple(axes))


def _table_head(table: PrintedTable) -> TableHead:
    columns = (ColumnHead(id=i, heading=c.heading, unit=c.unit, measure=c.measure) for i, c in table.columns.items())
    rows = tuple(map(_row_head, table.rows))
    return TableHead(id=table.table, name=table.name, title=table.title, columns=tuple(columns), rows=rows)


def _row_head(row: Row) -> RowHead:
    counters = tuple(
        CounterHead(measure=measure, convention=own.convention, because=own.because)
        for measure, own in row.counted_by.items()
    )
    return RowHead(id=row.id, label=row.label + row.mark, baseline=row.baseline, counters=counters or None)
