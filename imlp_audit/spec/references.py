"""Looking up what specs refer to: rows and cells, of this paper or another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, cached_property
from typing import TYPE_CHECKING

from imlp_audit.models.host import Size
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.forms import NumberForm, parse_printed
from imlp_audit.numbers.printed import Printed
from imlp_audit.spec.columns import Column, image_of
from imlp_audit.spec.number_forms import form_of
from imlp_audit.spec.tables import PrintedTable, Row
from imlp_audit.spec.tree import Located

if TYPE_CHECKING:
    from imlp_audit.spec.paper import Paper
    from imlp_audit.spec.schema import Preprocessing


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

    def cell(self, column: str) -> CellRef | None:
        """Return the cell of a column, where the row has one and the table has the column."""
        there = column in self.row.printed and column in self.table.value.columns
        return CellRef(self, column) if there else None


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
    def printed(self) -> Printed:
        """The number, in the column's unit."""
        return parse_printed(self.row.row.printed[self.column_id], self.form)

    @property
    def form(self) -> NumberForm:
        """What its text may look like."""
        return form_of(self.column, self.row.paper.about.value.decimal)

    @property
    def unit(self) -> str:
        """The column's unit; none where the number states its own."""
        return "" if self.printed.unit else self.column.unit

    @property
    def delta(self) -> Printed | None:
        """The printed change from the baseline, in percent, where there is one."""
        text = self.row.row.delta.get(self.column_id)
        return parse_printed(text, NumberForm("%", self.form.decimal)) if text is not None else None


@cache
def _at(recipe: Recipe, image: Size) -> Recipe:
    return recipe.with_image(image)


def rows_of_table(paper: Paper, table: Located[PrintedTable]) -> list[RowRef]:
    """Return a table's rows in order."""
    return [RowRef(paper, table, index) for index in range(len(table.value.rows))]


def rows_of(paper: Paper) -> Sequence[RowRef]:
    """Return all rows of a paper in order."""
    return paper.rows


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


def preprocessing_of(row: RowRef) -> tuple[Preprocessing, ...]:
    """Return what each source says on how a row's images are prepared; the first is what it is evaluated with."""
    entries = (entry.value for entry in row.paper.preprocessing)
    return tuple(entry for entry in entries if any(fnmatchcase(row.id, glob) for glob in entry.rows))


def repeated_row(row: RowRef, papers: Sequence[Paper]) -> RowRef | None:
    """Return the row that this row prints again: its own word for it, or the row of the same id in its table's."""
    whole = row.table.value.repeats
    target = row.row.repeats or (f"{whole}/{row.row.id}" if whole else None)
    return find_row(papers, target) if target else None
