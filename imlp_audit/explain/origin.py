"""Where a measured total comes from, part by part, and where it differs from the baseline's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from imlp_audit.checks.context import Conventions
from imlp_audit.explain.body import Body
from imlp_audit.explain.breakdown import Side, breakdown, by_kind, by_part, saved_and_given_back
from imlp_audit.explain.head import label_of
from imlp_audit.explain.layout import Lines, words
from imlp_audit.measure.conventions import Convention, ParameterConvention
from imlp_audit.models.reading import AnyReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.records.check import Check
from imlp_audit.spec.references import CellRef, RowRef
from imlp_audit.spec.tables import Measure

COUNTED = {
    "all": "all parameters",
    "no_head": "parameters without the classifier head",
    "with_buffers": "parameters and buffers",
    "macs": "multiply-accumulates",
}
_LABEL = 14  # characters over a column
_LONGEST = 30  # characters of a name in a heading


@dataclass(frozen=True)
class Decided:
    """A total as it decides a check: its cell, and the reading and the convention that it is counted under."""

    cell: CellRef
    check: Check
    read: Conventions

    @property
    def recipe(self) -> Recipe:
        """How the row's model is built."""
        recipe = self.cell.row.row.model
        assert recipe is not None
        return recipe

    @property
    def reading(self) -> AnyReading | None:
        """What the reading says about the row's model."""
        return self.recipe.part_of(self.read.readings[self.check.reading])

    @property
    def counting(self) -> ParameterConvention | Convention:
        """The convention."""
        name = str(self.check.convention)
        return ParameterConvention(name) if self.cell.column.measure is Measure.PARAMETERS else self.read.flops[name]

    @property
    def told(self) -> str:
        """What is counted, and under which reading where that matters."""
        counted = COUNTED.get(str(self.check.convention), f"FLOPs by {self.check.convention}")
        return f"{counted}, reading {self.check.reading}" if self.recipe.family else counted

    @property
    def baseline(self) -> RowRef | None:
        """The row that it is compared with, where that has a model."""
        base = self.cell.row.baseline
        return base if base is not None and base.row.model is not None else None


def origin(decided: Decided, body: Body) -> Iterator[Lines]:
    """Yield a table by part of the model, and one by kind of parameter or class of work."""
    ours, base = Side(_head(decided.cell.row), body.items(decided.counting)), decided.baseline
    theirs = _baseline(base, decided) if base is not None else None
    if isinstance(theirs, str) or base is None or theirs is None:
        failed = words(f"The baseline could not be counted: {theirs}") if theirs is not None else []
        yield [f"Where the number comes from ({decided.told})", *failed, *breakdown(ours, None, by_part, "part")]
        yield breakdown(ours, None, by_kind, _kinds(decided))
        return
    heading = f"Where the number comes from, against {_name(base)} ({decided.told})"
    yield [heading, *breakdown(ours, theirs, by_part, "part"), *saved_and_given_back(ours, theirs)]
    yield breakdown(ours, theirs, by_kind, _kinds(decided))


def _kinds(decided: Decided) -> str:
    return "kind of parameter" if isinstance(decided.counting, ParameterConvention) else "class of work"


def _baseline(row: RowRef, decided: Decided) -> Side | str:
    """Return the baseline's parts, or why there are none: that is an error of its own row, not of this one."""
    from imlp_audit.explain.dissect import dissect  # torch takes seconds to import

    recipe = row.row.model
    assert recipe is not None
    try:
        body = dissect(recipe, recipe.part_of(decided.read.readings[decided.check.reading]))
    except Exception as error:  # whatever a host's code raises
        return f"{type(error).__name__}: {error}"
    return Side(_head(row), body.items(decided.counting))


def _name(row: RowRef) -> str:
    """Return what a row is called in a heading."""
    label = label_of(row)
    return label if len(label) <= _LONGEST else row.row.id


def _head(row: RowRef) -> str:
    """Return what heads a row's column: its label, or its id where that is too long."""
    return row.row.label if len(row.row.label) <= _LABEL else row.row.id
