"""Runs each planned check, and says which models it needs; a check that fails to run is recorded as an error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import assert_never

from imlp_audit.checks.cells import check_cell, check_columns
from imlp_audit.checks.changes import check_delta, check_repeat
from imlp_audit.checks.claims import check_claim, models_of_claim, papers_of_claim
from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.equations import check_equation
from imlp_audit.checks.marks import check_mark, marked_models
from imlp_audit.checks.printed import totalled_cells
from imlp_audit.count.facts import ModelKey, Need
from imlp_audit.models.recipe import Recipe
from imlp_audit.records.check import CHECK_OF_KIND, Check, Verdict
from imlp_audit.spec.columns import Measure, MemoryColumn
from imlp_audit.spec.paper import CellRef, Paper, RowRef, rows_of, rows_of_table
from imlp_audit.spec.plan import CellPlan, ClaimPlan, ColumnsPlan, DeltaPlan, EquationPlan, MarkPlan, Plan, RepeatPlan


def run_check(plan: Plan, context: Context) -> Check:
    """Make one check, with its place in the paper."""
    return _make(plan, context).model_copy(update={"place": plan.place})


def _make(plan: Plan, context: Context) -> Check:
    try:
        return _dispatch(plan, context)
    except NotMeasuredError as error:
        printed = plan.cell.row.row.printed[plan.cell.column_id] if isinstance(plan, CellPlan) else None
        verdict = Verdict.UNVERIFIABLE if error.unverifiable else Verdict.ERROR
        kind = CHECK_OF_KIND[plan.kind]
        return kind(id=plan.id, verdict=verdict, reason=str(error), source=plan.source, printed=printed)


def _dispatch(plan: Plan, context: Context) -> Check:
    match plan:
        case CellPlan():
            return check_cell(plan, context)
        case DeltaPlan():
            return check_delta(plan, context)
        case MarkPlan():
            return check_mark(plan, context)
        case RepeatPlan():
            return check_repeat(plan, context)
        case ColumnsPlan():
            return check_columns(plan, context)
        case ClaimPlan():
            return check_claim(plan, context)
        case EquationPlan():
            return check_equation(plan, context.outcomes)
        case _:
            assert_never(plan)


def models_needed(plans: Iterable[Plan], context: Context) -> Mapping[ModelKey, Need]:
    """Return the models that the checks need, in order, and what is needed of each."""
    needed: dict[ModelKey, Need] = {}
    for paper, recipe, need in _every_recipe(list(plans)):
        for reading in context.conventions(paper).readings.values():
            key = ModelKey.of(recipe, reading)
            needed[key] = needed.get(key, Need()) | need
    return needed


def needs_models(plan: Plan, context: Context) -> bool:
    """Return whether a check needs any model."""
    return any(context.conventions(paper).readings for paper, *_ in _every_recipe([plan]))


def _every_recipe(plans: Sequence[Plan]) -> Iterator[tuple[Paper, Recipe, Need]]:
    """Yield the recipes of checks, and those that have a vote on how they are judged."""
    yield from chain.from_iterable(map(_recipes, plans))
    yield from chain.from_iterable(map(_voters, papers_to_judge(plans)))


def papers_to_judge(plans: Iterable[Plan]) -> list[Paper]:
    """Return the papers of which a check is judged under the hypothesis that all counted cells support."""
    papers: dict[str, Paper] = {}
    for plan in plans:
        match plan:
            case CellPlan() if plan.cell.column.measure.totalled:
                papers[plan.cell.row.paper.id] = plan.cell.row.paper
            case DeltaPlan() if plan.measured:
                papers[plan.cell.row.paper.id] = plan.cell.row.paper
            case MarkPlan():
                papers[plan.row.paper.id] = plan.row.paper
            case ColumnsPlan():
                papers[plan.paper.id] = plan.paper
            case ClaimPlan():
                papers |= {paper.id: paper for paper in papers_of_claim(plan)}
            case _:
                pass
    return list(papers.values())


@lru_cache(maxsize=32)
def _voters(paper: Paper) -> Sequence[tuple[Paper, Recipe, Need]]:
    """Return all models whose counted numbers have a vote on the paper's hypothesis."""
    cells = (one for row in rows_of(paper) for one in totalled_cells(row))
    return [(paper, one.recipe, Need(work=one.cell.column.measure is Measure.FLOPS)) for one in cells]


def _recipes(plan: Plan) -> Iterator[tuple[Paper, Recipe, Need]]:
    """Yield a check's recipes, each with its paper and what is needed of it."""
    match plan:
        case CellPlan():
            yield from _for_cell(plan.cell)
        case DeltaPlan():
            if plan.measured:
                yield from _own(plan.cell.row)
                yield from _own(plan.base.row)
        case MarkPlan():
            yield from _both_models(plan)
        case ColumnsPlan():
            for row in rows_of_table(plan.paper, plan.table):
                if any(CellRef(row, name).column.measure.totalled for name in row.row.printed):
                    yield from _own(row)
        case ClaimPlan():
            yield from ((paper, recipe, Need(work=True)) for paper, recipe in models_of_claim(plan))
        case RepeatPlan() | EquationPlan():
            return
        case _:
            assert_never(plan)


def _own(row: RowRef) -> Iterator[tuple[Paper, Recipe, Need]]:
    """Yield the models of a row on all the images that the columns of its table have."""
    for name, column in row.table.value.columns.items():
        recipe = CellRef(row, name).recipe
        if column.measure.totalled and recipe is not None:
            yield row.paper, recipe, Need(work=True)


def _for_cell(cell: CellRef) -> Iterator[tuple[Paper, Recipe, Need]]:
    column, recipe = cell.column, cell.recipe
    if recipe is None:
        return
    if column.measure.totalled:
        yield from _own(cell.row)  # the number may stand under another column's heading
    elif column.measure.counted:
        yield cell.row.paper, recipe, Need()
    base = cell.row.baseline  # whose number may follow by another convention
    if column.measure.totalled and base is not None and base.cell(cell.column_id) is not None:
        yield from _own(base)
    if isinstance(column, MemoryColumn):
        yield cell.row.paper, recipe, Need(batches=frozenset({column.batch}))


def _both_models(plan: MarkPlan) -> Iterator[tuple[Paper, Recipe, Need]]:
    for recipe in marked_models(plan).values():
        yield plan.row.paper, recipe, Need(work=plan.cell.column.measure is Measure.FLOPS)
