"""Sentences about the size of the images that models take, judged by the FLOPs that are printed for them."""

from __future__ import annotations

from dataclasses import dataclass

from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.fit import Comparison, compare
from imlp_audit.checks.measured_claims import ClaimJudgement
from imlp_audit.checks.printed import unless_counted, unless_missing
from imlp_audit.checks.truth import RowTruth, Truth, judge_share
from imlp_audit.checks.votes import frame_of
from imlp_audit.checks.worlds import is_weak
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.interval import readable
from imlp_audit.records.check import PASSES, Verdict
from imlp_audit.spec.claims import Input, Sized


def judge_input(statement: Input, context: Context) -> ClaimJudgement:
    """Judge which size the printed FLOPs follow from, each row under its own cell's hypothesis."""
    judged = [_judge_row(row, statement.size, context) for row in statement.rows]
    truths = [one.truth for one in judged]
    verdict, reason = judge_share(truths, statement.holds_for)
    measured = "; ".join(f"{truth.row}: {truth.values}" for truth in truths)
    under = tuple(dict.fromkeys(name for one in judged for name in one.under))
    return ClaimJudgement(verdict, reason, measured, under, is_weak(statement.cells, context))


def at_size(recipe: Recipe, size: int) -> Recipe:
    """Return the recipe with square images of this side."""
    return recipe.model_copy(update={"image": (size, size)})


@dataclass(frozen=True)
class _JudgedRow:
    """Whether a row takes images of the size, and how what its number follows from departs from the defaults."""

    truth: RowTruth
    under: tuple[str, ...] = ()


def _judge_row(row: Sized, size: int, context: Context) -> _JudgedRow:
    """Judge a row: its FLOPs follow from the claimed size, only from another size, or from none of those tried."""
    name, printed = row.cell.row.row.id, row.cell.printed.text
    claimed = _compare_at(size, row, context)
    if claimed.verdict in PASSES:
        return _JudgedRow(RowTruth(name, Truth.YES, f"{printed} follows at {size}", f"{size}"), claimed.under)
    fitting = [other for other in row.tried if _fits_at(other, row, context)]
    miss = f"{readable(claimed.deciding.value)} at {size}, not {printed}"
    if claimed.verdict is Verdict.UNVERIFIABLE or not fitting:
        return _JudgedRow(RowTruth(name, Truth.OPEN, f"{miss}; none of the sizes tried gives it", "none"))
    sizes = " or ".join(map(str, fitting))
    return _JudgedRow(RowTruth(name, Truth.NO, f"{miss}, which follows at {sizes}", sizes))


def _fits_at(size: int, row: Sized, context: Context) -> bool:
    try:
        return _compare_at(size, row, context).verdict in PASSES
    except NotMeasuredError:  # a model that cannot take this size was not counted at it
        return False


def _compare_at(size: int, row: Sized, context: Context) -> Comparison:
    sized, paper, frame = at_size(row.recipe, size), row.cell.row.paper, frame_of(row.cell, context)
    declared, _ = context.measurements(row.cell.row, sized, row.cell.column)
    allowed = frame.select(declared)
    if not allowed:  # the readings that are left to the cell failed
        unless_counted(context, paper, sized)
    rules = context.conventions(paper).roundings_of(row.cell.column)
    comparison = compare(row.cell.printed, declared, frame.roundings, allowed=allowed, rules=rules)
    return unless_missing(comparison, context, paper, sized)
