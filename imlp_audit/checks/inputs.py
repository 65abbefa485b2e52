"""Checks of what is said of the images that models take: do the printed FLOPs follow from that size?"""

from __future__ import annotations

from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.fit import Comparison, compare
from imlp_audit.checks.printed import unless_missing
from imlp_audit.checks.truth import RowTruth, Truth
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.interval import readable
from imlp_audit.records.check import PASSES, Verdict
from imlp_audit.spec.claims import Input
from imlp_audit.spec.references import RowRef


def at_size(recipe: Recipe, size: int) -> Recipe:
    """Return the recipe with square images of this side."""
    return recipe.model_copy(update={"image": (size, size)})


def input_truth(row: RowRef, given: Input, context: Context) -> RowTruth:
    """Judge a row: its FLOPs follow from the claimed size, or from another one alone, or from none that was tried."""
    printed = row.row.printed[given.decided_by]
    claimed = _outcome(row, given, given.size, context)
    if claimed.verdict in PASSES:
        return RowTruth(row.row.id, Truth.YES, f"{printed} follows at {given.size}", f"{given.size}")
    fitting = [size for size in given.tried.get(row.row.id, ()) if _fits(row, given, size, context)]
    told = f"{readable(claimed.deciding.value)} at {given.size}, not {printed}"
    if claimed.verdict is Verdict.UNVERIFIABLE or not fitting:
        return RowTruth(row.row.id, Truth.OPEN, f"{told}; no size that was tried gives it", "none")
    sizes = " or ".join(map(str, fitting))
    return RowTruth(row.row.id, Truth.NO, f"{told}, which follows at {sizes}", sizes)


def _fits(row: RowRef, given: Input, size: int, context: Context) -> bool:
    try:
        return _outcome(row, given, size, context).verdict in PASSES
    except NotMeasuredError:  # a model that cannot take this size was not counted at it
        return False


def _outcome(row: RowRef, given: Input, size: int, context: Context) -> Comparison:
    recipe, cell = row.row.model, row.cell(given.decided_by)
    assert recipe is not None, "spec.rules has seen to it"
    assert cell is not None, "spec.rules has seen to it"
    sized = at_size(recipe, size)
    declared, _ = context.measurements(row, sized, cell.column)
    comparison = compare(cell.printed, declared, context.conventions(row.paper).roundings)
    return unless_missing(comparison, context, row.paper, sized)
