"""Shared by checks of printed numbers: which cells can be counted, and how a comparison becomes a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.fit import Comparison
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.interval import EXACT, decimal_text
from imlp_audit.numbers.printed import Printed, Rounding
from imlp_audit.records.check import NO_MODEL, CellCheck, DeltaCheck, Verdict
from imlp_audit.spec.columns import Column, image_of
from imlp_audit.spec.paper import CellRef, Paper, RowRef
from imlp_audit.spec.plan import CellPlan, DeltaPlan

C = TypeVar("C", CellCheck, DeltaCheck)


@dataclass(frozen=True)
class Countable:
    """A cell whose number can be counted from its row's model."""

    cell: CellRef
    recipe: Recipe


def countable(cell: CellRef) -> Countable | str:
    """Return the cell with its model, or what is missing for it to be counted."""
    recipe = cell.recipe
    measure = cell.column.measure
    if not measure.counted or (measure.totalled and cell.column.needs):
        return f"needs {cell.column.needs}"
    return NO_MODEL if recipe is None else Countable(cell, recipe)


def missing_for(cell: CellRef) -> str | None:
    """Return what is missing for a cell to be counted, if anything."""
    found = countable(cell)
    return found if isinstance(found, str) else None


def totalled_cells(row: RowRef) -> list[Countable]:
    """Return the cells of a row that hold totals over its model."""
    cells = [countable(cell) for name in row.row.printed if (cell := CellRef(row, name)).column.measure.totalled]
    return [cell for cell in cells if isinstance(cell, Countable)]


def unless_missing(comparison: Comparison, context: Context, paper: Paper, *recipes: Recipe) -> Comparison:
    """Return the comparison; where a reading failed that might have given the number, it cannot be judged to differ."""
    if comparison.verdict is Verdict.DIFFERS:
        for recipe in recipes:
            unless_counted(context, paper, recipe)
    return comparison


def unless_counted(context: Context, paper: Paper, recipe: Recipe) -> None:
    """Raise NotMeasuredError where a declared reading of a model failed, which might have made a difference."""
    failed = next(iter(context.failures(paper, recipe)), None)
    if failed is not None:
        raise NotMeasuredError(failed)


def record_unmeasured(kind: type[C], plan: CellPlan | DeltaPlan, printed: Printed, unit: str, missing: str) -> C:
    """Record that a number cannot be checked, and what is missing."""
    return kind(
        id=plan.id, verdict=Verdict.UNVERIFIABLE, reason=missing, source=plan.source, printed=printed.text, unit=unit
    )  # fmt: skip


def write_images(column: Column) -> str:
    """Say on which images a column's numbers were counted, where these are its own."""
    image = image_of(column)
    return f", counted on images of {image[0]} x {image[1]}" if image is not None else ""


def record_fit(kind: type[C], plan: CellPlan | DeltaPlan, printed: Printed, unit: str, comparison: Comparison) -> C:
    """Record a comparison."""
    deciding = comparison.deciding
    return kind(
        id=plan.id,
        verdict=comparison.verdict,
        reason=f"{comparison.reason}{write_images(plan.cell.column)}",
        source=plan.source,
        printed=printed.text,
        unit=unit,
        interval=interval_ends(printed, comparison.rounding),
        measured=decimal_text(deciding.value, EXACT),
        gap=decimal_text(printed.gap(deciding.value), 1),
        reading=deciding.reading,
        convention=deciding.convention,
        rounding=comparison.rounding,
        under=comparison.under,
        also=comparison.also,
        hints=comparison.hints,
    )


def interval_ends(printed: Printed, rounding: Rounding) -> tuple[str, str]:
    """Return the interval_ends of the interval that a number stands for, as text."""
    interval = printed.interval(rounding)
    return decimal_text(interval.low, EXACT), decimal_text(interval.high, EXACT)


def write_sign_hint(delta: Printed) -> str:
    """Say that a change would follow with the other sign."""
    fault = "the sign is wrong" if delta.has_sign else f"{delta.text} has no sign and is read as an increase"
    return f"{delta.negated.text} would follow: {fault}"
