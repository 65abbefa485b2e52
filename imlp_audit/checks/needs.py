"""Which models the planned checks need measured, and how much of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

from imlp_audit.checks.context import Context
from imlp_audit.checks.marks import kernels, with_kernel
from imlp_audit.facts import ModelKey
from imlp_audit.models.recipe import Recipe
from imlp_audit.spec.loader import Paper
from imlp_audit.spec.plan import CellPlan, ClaimPlan, ColumnsPlan, DeltaPlan, EquationPlan, MarkPlan, Plan, RepeatPlan
from imlp_audit.spec.references import RowRef, find_rows, rows_of_table
from imlp_audit.spec.schema import Measure


def models_needed(plans: Iterable[Plan], context: Context) -> Mapping[ModelKey, bool]:
    """Return the models that the checks need, in their order, and whether their work is needed or parameters alone."""
    needed: dict[ModelKey, bool] = {}
    for plan in plans:
        for paper, recipe, work in _recipes(plan, context):
            for reading in context.conventions(paper).readings.values():
                key = ModelKey.of(recipe, reading)
                needed[key] = needed.get(key, False) or work
    return needed


def _recipes(plan: Plan, context: Context) -> Iterator[tuple[Paper, Recipe, bool]]:
    """Yield a check's recipes, each with its paper and whether its work is needed."""
    match plan:
        case CellPlan():
            if plan.cell.column.measure.counted:
                yield from _own(plan.cell.row)
        case DeltaPlan():
            if plan.measured:
                yield from _own(plan.cell.row)
                yield from _own(plan.base.row)
        case MarkPlan():
            yield from _both_kernels(plan)
        case ColumnsPlan():
            for row in rows_of_table(plan.paper, plan.table):
                yield from _own(row)
        case ClaimPlan():
            yield from _shares(plan, context)
        case RepeatPlan() | EquationPlan():
            return
        case _:
            assert_never(plan)


def _own(row: RowRef) -> Iterator[tuple[Paper, Recipe, bool]]:
    if row.row.model is not None:
        yield row.paper, row.row.model, True


def _both_kernels(plan: MarkPlan) -> Iterator[tuple[Paper, Recipe, bool]]:
    footnote, recipe = plan.row.table.value.footnote, plan.row.row.model
    if footnote is not None and recipe is not None:
        work = plan.row.table.value.columns[footnote.decided_by].measure is Measure.FLOPS
        for kernel in kernels(footnote, marked=True):
            yield plan.row.paper, with_kernel(recipe, kernel), work


def _shares(plan: ClaimPlan, context: Context) -> Iterator[tuple[Paper, Recipe, bool]]:
    claim = plan.claim.value
    quantities = [*(claim.conditions or ()), *([claim.order] if claim.order else [])]
    if any(quantity.kind == "mlp_share" for quantity in quantities):
        for glob in claim.rows:
            for row in find_rows(context.papers, glob):
                yield from _own(row)
