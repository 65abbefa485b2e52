"""The records of tables: footnotes, rows and how they are built."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from imlp_audit.models.change import Change, describe_fields
from imlp_audit.models.recipe import Recipe
from imlp_audit.records.base import Record
from imlp_audit.spec.columns import Column, CountedMeasure, parse_column
from imlp_audit.spec.fields import TABLE_ID, Place, RowId, Sentence, Slug


class Footnote(Record):
    """A mark on rows that stands for a change of their recipes; `otherwise` is the change in rows without it.

    A change is a part of a recipe: `{mlp: {imlp: {kernel: 5}}}`. It concerns the rows whose recipes have that part and
    of which the two changes make two models. `decided_by` is the column whose numbers decide between them.
    """

    mark: Annotated[str, Field(min_length=1, max_length=3)]
    meaning: Sentence
    marked: Annotated[Change, Field(min_length=1)]
    otherwise: Annotated[Change, Field(min_length=1)]
    decided_by: Slug

    @model_validator(mode="after")
    def _changes_are_two(self) -> Self:
        if describe_fields(self.marked).keys() != describe_fields(self.otherwise).keys():
            raise ValueError("marked and otherwise must change the same fields of a recipe")
        if self.marked == self.otherwise:
            raise ValueError("marked and otherwise are the same change; they must differ")
        return self

    def change(self, mark: str) -> Change:
        """Return the change that a row with this mark, or with none, stands for."""
        return self.marked if self.mark in mark else self.otherwise

    def opposite(self, mark: str) -> Change:
        """Return the other change."""
        return self.otherwise if self.mark in mark else self.marked

    def concerns(self, recipe: Recipe) -> bool:
        """Say whether the changes make two models of a recipe. Raises ValidationError where one makes none."""
        if not recipe.takes(self.marked):
            return False
        return recipe.with_change(self.marked).essence() != recipe.with_change(self.otherwise).essence()


class CountedBy(Record):
    """The convention that a row's numbers were counted by, and a source that says so: not that it fits."""

    convention: Annotated[str, Field(min_length=1)]
    because: Sentence


class Row(Record):
    """A model as the table lists it. Without `model` it has no recipe.

    `counted_by` is, by measure, the convention of its numbers where a source gives one that may not be its column's.
    `training` says how the model was trained, where not as the paper's models usually were.
    """

    id: Slug
    label: Sentence
    baseline: Slug | None = None
    model: Recipe | None = None
    mark: str = ""
    repeats: RowId | None = None
    training: Sentence | None = None
    counted_by: dict[CountedMeasure, CountedBy] = Field(default_factory=dict)
    printed: Annotated[dict[Slug, str], Field(min_length=1)]
    delta: dict[Slug, str] = Field(default_factory=dict)


RESERVED = frozenset({"repeats", "columns", "marks", "claims", "equations"})  # in ids, where a table's is


class PrintedTable(Record):
    """A table as printed. `repeats` names the table whose rows of the same ids it prints again.

    `name` is what the paper calls it where that is not "Table" and its id: `Table D.1`, `Appendix A, Activation`.
    """

    table: Slug
    name: Sentence | None = None
    title: Sentence
    source: Place
    columns: Annotated[dict[Slug, Annotated[Column, BeforeValidator(parse_column)]], Field(min_length=1)]
    rows: Annotated[tuple[Row, ...], Field(min_length=1)]
    footnote: Footnote | None = None
    repeats: Annotated[str, Field(pattern=TABLE_ID)] | None = None

    @property
    def called(self) -> str:
        """What the paper calls it."""
        return self.name or f"Table {self.table}"

    @model_validator(mode="after")
    def _is_not_reserved(self) -> Self:
        if self.table in RESERVED:
            raise ValueError(f"a table cannot be called {self.table!r}: ids of checks use that word")
        return self


class TableFile(PrintedTable):
    """A file that is one table."""

    paper: Slug
