"""Runs each planned check, and says what it needs; a check that fails to run is recorded as an error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import assert_never

from imlp_audit.checks.cells import check_cell, check_columns
from imlp_audit.checks.claims import check_claim, models_of_claim, papers_of_claim
from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.deltas_and_repeats import check_delta, check_repeat
from imlp_audit.checks.judged_under import may_accuse, totalled_cells
from imlp_audit.checks.marks import check_mark, marked_models
from imlp_audit.checks.matches_by_chance import NOT_NAMED, hold_back
from imlp_audit.claims.catalogue import BrokenClaim, ClaimText
from imlp_audit.claims.settings import AnyOutcome, NotRun, Outcome
from imlp_audit.count.facts import ModelKey, Need
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import CHECK_OF_KIND, FAILS, CellCheck, Check, EquationCheck, Verdict
from imlp_audit.spec.columns import Measure, MemoryColumn
from imlp_audit.spec.paper import CellRef, Paper, RowRef, rows_of_table
from imlp_audit.spec.plan import (
    CellPlan,
    ClaimPlan,
    ColumnsPlan,
    DeltaPlan,
    EquationPlan,
    MarkPlan,
    Plan,
    RepeatPlan,
    place_of,
)


def check_equation(plan: EquationPlan, outcomes: Mapping[str, AnyOutcome]) -> EquationCheck:
    """Judge a claim by what testing it gave."""
    match plan.claim:
        case BrokenClaim(file=file, line=line, problem=problem):
            reason = f"{file}:{line}: {problem}"
            return EquationCheck(id=plan.id, verdict=Verdict.ERROR, reason=reason, source=plan.source)
        case ClaimText():
            return _judge_claim(plan, plan.claim, outcomes[plan.id])
        case _:
            assert_never(plan.claim)


def _judge_claim(plan: EquationPlan, claim: ClaimText, outcome: AnyOutcome) -> EquationCheck:
    hints: tuple[str, ...] = ()
    match outcome:
        case NotRun(reason=reason):
            verdict = Verdict.UNVERIFIABLE
        case Outcome(problem=str(problem)):
            verdict, reason = Verdict.ERROR, problem
        case Outcome(counterexample=false) if false:
            verdict, reason = Verdict.DIFFERS, f"false for {'; '.join(false)}"
            if isinstance(plan.nearest, ClaimText):
                hints = (f"what holds is {plan.nearest.id}: {plan.nearest.form}",)
        case Outcome():
            verdict, reason = Verdict.REPRODUCED, f"holds on {count_of(outcome.examples, 'example')}"
        case _:
            assert_never(outcome)
    made = EquationCheck(
        id=plan.id, verdict=verdict, reason=reason, source=plan.source,
        printed=claim.form if claim.literal else None, corrected=None if claim.literal else claim.form,
        statement=claim.statement, tolerance=claim.tolerance, hints=hints,
    )  # fmt: skip
    if isinstance(outcome, NotRun):
        return made
    return made.model_copy(update={"examples": outcome.examples, "counterexample": outcome.counterexample})


def run_check(plan: Plan, context: Context) -> Check:
    """Make one check, with its place in the paper. Models that are only proposed accuse nothing."""
    made = _make(plan, context).model_copy(update={"place": place_of(plan)})
    if made.verdict not in FAILS:
        return made
    if (damage := _damage_of(plan)) is not None:
        held = hold_back(made, f"the table is uncertain ({damage})")
        return held.model_copy(update={"lead": True}) if isinstance(held, CellCheck) else held
    if isinstance(plan, DeltaPlan) and plan.cell.row.row.candidates:
        return hold_back(made, "which row it is a change of is proposed")
    return made if all(may_accuse(row, context) for row in _counted_rows(plan)) else hold_back(made, NOT_NAMED)


def _damage_of(plan: Plan) -> str | None:
    """Return what of a number's table was not read for sure."""
    match plan:
        case CellPlan(cell=cell) | DeltaPlan(cell=cell):
            return cell.row.table.value.uncertain
        case ColumnsPlan(table=table):
            return table.value.uncertain
        case _:
            return None


def _counted_rows(plan: Plan) -> list[RowRef]:
    """Return the rows whose models a check other than a cell's rests on, without those that it leaves out itself."""
    match plan:
        case MarkPlan(row=row):
            return [row]
        case ClaimPlan(measured=True):
            return [cell.row for statement in plan.meanings.all for cell in statement.cells]
        case _:
            return []


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


@dataclass(frozen=True)
class Needs:
    """What a check looks at: papers whose counted numbers are all judged together, and models besides theirs."""

    judged: Sequence[Paper] = ()
    models: Sequence[tuple[Paper, Recipe, Need]] = ()


def needs_of(plan: Plan) -> Needs:
    """Return what a check needs."""
    match plan:
        case CellPlan(cell=cell) if cell.column.measure.totalled:
            return Needs([cell.row.paper], [*_totals(cell.row)])
        case CellPlan(cell=cell) if cell.recipe is not None and (cell.column.measure.counted or _batches(cell)):
            return Needs(models=[(cell.row.paper, cell.recipe, Need(batches=_batches(cell)))])
        case DeltaPlan(cell=cell, base=base, measured=True):
            return Needs([cell.row.paper], [*_totals(cell.row), *_totals(base.row)])
        case MarkPlan(row=row, cell=cell):
            need = Need(work=cell.column.measure is Measure.FLOPS)
            return Needs([row.paper], [(row.paper, recipe, need) for recipe in marked_models(plan).values()])
        case ColumnsPlan(paper=paper, table=table):
            rows = [row for row in rows_of_table(paper, table) if totalled_cells(row)]
            return Needs([paper], [one for row in rows for one in _totals(row)])
        case ClaimPlan():
            models = [(paper, recipe, Need(work=True)) for paper, recipe in models_of_claim(plan)]
            return Needs(list(papers_of_claim(plan)), models)
        case CellPlan() | DeltaPlan() | RepeatPlan() | EquationPlan():
            return Needs()
        case _:
            assert_never(plan)


def _batches(cell: CellRef) -> frozenset[int]:
    return frozenset({cell.column.batch}) if isinstance(cell.column, MemoryColumn) else frozenset()


def _totals(row: RowRef) -> Iterator[tuple[Paper, Recipe, Need]]:
    """Yield the models of a row on all images of its table's columns: a number may stand under a wrong heading."""
    for name, column in row.table.value.columns.items():
        recipe = CellRef(row, name).recipe
        if column.measure.totalled and recipe is not None:
            yield row.paper, recipe, Need(work=column.measure is Measure.FLOPS)


@lru_cache(maxsize=32)
def _voters(paper: Paper) -> Sequence[tuple[Paper, Recipe, Need]]:
    """Return the models whose counted numbers have a vote on the paper's hypothesis."""
    cells = (one for row in paper.rows for one in totalled_cells(row))
    return [(paper, one.recipe, Need(work=one.cell.column.measure is Measure.FLOPS)) for one in cells]


def needs_models(plan: Plan) -> bool:
    """Return whether a check needs any model."""
    needs = needs_of(plan)
    return bool(needs.models) or any(map(_voters, needs.judged))


def models_needed(plans: Iterable[Plan], context: Context) -> Mapping[ModelKey, Need]:
    """Return the models that the checks need, in order, and what is needed of each."""
    needs = [needs_of(plan) for plan in plans]
    papers = {paper.id: paper for one in needs for paper in one.judged}
    voters = chain.from_iterable(map(_voters, papers.values()))
    needed: dict[ModelKey, Need] = {}
    for paper, recipe, need in chain(*(one.models for one in needs), voters):
        for reading in context.conventions(paper).readings.values():
            key = ModelKey.of(recipe, reading)
            needed[key] = needed.get(key, Need()) | need
    return needed


def papers_to_judge(plans: Iterable[Plan]) -> list[Paper]:
    """Return the papers of which a check is judged under the hypothesis that all counted cells support."""
    return list({paper.id: paper for plan in plans for paper in needs_of(plan).judged}.values())
