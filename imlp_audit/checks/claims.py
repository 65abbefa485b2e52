"""Checks of the paper's sentences about its own numbers, and about the size of the images that models take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import assert_never

from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.fit import Comparison, compare
from imlp_audit.checks.frames import frame_of, unless_counted, unless_missing
from imlp_audit.checks.measured_claims import (
    ClaimJudgement,
    bound_of,
    is_weak,
    judge_measured_conditions,
    judge_measured_order,
    judge_options,
    judge_row,
    judge_rows,
)
from imlp_audit.checks.quantities import (
    interval_of,
    judge_order,
    middle,
    mlp_shares,
    printed_options,
    printed_values,
)
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.interval import Interval, readable
from imlp_audit.records.check import PASSES, ClaimCheck, RowTruth, Truth, Verdict
from imlp_audit.spec.claim_entries import Direction, MeaningEntry
from imlp_audit.spec.claim_quantities import MlpShare
from imlp_audit.spec.claims import Average, Condition, Conditions, Input, Order, Reference, Sized, Statement
from imlp_audit.spec.paper import Paper, RowRef
from imlp_audit.spec.plan import ClaimPlan


def check_claim(plan: ClaimPlan, context: Context) -> ClaimCheck:
    """Judge a claim in its strict meaning, and where that fails in the charitable one that the spec states."""
    claim, meanings = plan.claim.value, plan.meanings
    strict = _judge(meanings.strict, context, measured=plan.measured)
    found, verdict = strict, strict.verdict
    if verdict is Verdict.INCONSISTENT and (claim.meaning is not None or plan.measured):
        verdict = Verdict.DIFFERS  # false in the meaning the spec states, or of the models; the words may bear another
    why = claim.charitable if isinstance(claim.charitable, str) else None
    if verdict not in PASSES and meanings.charitable is not None and isinstance(claim.charitable, MeaningEntry):
        charitable = _judge(meanings.charitable, context, measured=plan.measured)
        if charitable.verdict in PASSES:
            why = claim.charitable.meaning
            found = replace(
                charitable,
                reason=f"{charitable.reason}; taken strictly: {strict.reason}",
                under=(name_meaning(claim.charitable), *charitable.under),
            )
            verdict = charitable.verdict
    if verdict is Verdict.REPRODUCED and found.under:
        verdict = Verdict.REPRODUCED_UNDER
    return ClaimCheck(
        id=plan.id, verdict=verdict, reason="; ".join((found.reason, *_not_judged(plan))),
        source=plan.source, printed=claim.text, statement=claim.meaning, measured=found.measured,
        by_row=found.by_row, under=found.under if verdict is Verdict.REPRODUCED_UNDER else (),
        weak=found.weak and verdict in PASSES, charitable=why if verdict in PASSES else None,
    )  # fmt: skip


def name_meaning(entry: MeaningEntry) -> str:
    """Name the meaning in which a claim holds."""
    return f"the meaning “{entry.meaning}”"


def _not_judged(plan: ClaimPlan) -> Iterator[str]:
    """Yield which conditions cannot be measured, and which rows that the sentence covers are left out and why."""
    strict, form = plan.meanings.strict, plan.claim.value.conditions
    if isinstance(strict, Conditions) and len(strict.conditions) < len(form or ()):
        yield "its other conditions are judged on printed numbers alone"
    for rows, because in plan.left_out:
        yield f"not judged for {', '.join(row.row.id for row in rows)}: {because}"


def _judge(statement: Statement, context: Context, *, measured: bool) -> ClaimJudgement:
    match statement:
        case Conditions():
            if measured:
                return judge_measured_conditions(statement, context)
            truths, under = _condition_truths(statement, context), _shares_under(statement.shares, context)
            return judge_rows(truths, statement.holds_for, under)
        case Order():
            if measured:
                return judge_measured_order(statement, context)
            return replace(_judge_order(statement, context), under=_shares_under(statement.shares, context))
        case Reference():
            return _judge_reference(statement)
        case Average():
            return _judge_average(statement, context)
        case Input():
            return judge_input(statement, context)
        case _:
            assert_never(statement)


def _shares_under(shares: Sequence[MlpShare], context: Context) -> tuple[str, ...]:
    """Return what shares of the MLPs depart from the defaults by."""
    under = (name for share in shares for _, names in mlp_shares(share, context) for name in names)
    return tuple(dict.fromkeys(under))


def models_of_claim(plan: ClaimPlan) -> Iterator[tuple[Paper, Recipe]]:
    """Yield the models that a claim about printed numbers needs, each with its paper; a measured one has its cells'."""
    for statement in () if plan.measured else plan.meanings.all:
        yield from _models_of(statement)


def papers_of_claim(plan: ClaimPlan) -> Iterator[Paper]:
    """Yield the papers whose hypothesis a claim is judged under: none where it is judged on printed numbers alone."""
    for statement in plan.meanings.all:
        shares = isinstance(statement, Conditions | Order) and statement.shares
        if plan.measured or shares or isinstance(statement, Input):
            yield from (cell.row.paper for cell in statement.cells)


def _models_of(statement: Statement) -> Iterator[tuple[Paper, Recipe]]:
    match statement:
        case Conditions() | Order():
            yield from ((share.cell.row.paper, share.recipe) for share in statement.shares)
        case Input():
            for row in statement.rows:
                yield from ((row.cell.row.paper, at_size(row.recipe, s)) for s in (statement.size, *row.tried))
        case Reference() | Average():
            return
        case _:
            assert_never(statement)


def _condition_truths(statement: Conditions, context: Context) -> list[RowTruth]:
    """Judge the conditions in each row that they are about."""
    rows = (
        (row, [(c, *judge_condition(c, row, context)) for c in statement.conditions if row.id in c.by_row])
        for row in statement.rows
    )
    return [judge_row(row, parts) for row, parts in rows if parts]


def judge_condition(condition: Condition, row: RowRef, context: Context) -> tuple[Truth, str]:
    """Return whether a condition holds in a row that it is about, and the values that it is judged by."""
    quantity, bound = condition.by_row[row.id], bound_of(condition, row, context)
    return judge_options(condition, bound, printed_options(quantity, context), quantity)


def _judge_order(order: Order, context: Context) -> ClaimJudgement:
    """Judge whether a quantity only grows, or only shrinks, along the rows."""
    values = [(row.row.id, printed_values(quantity, context)) for row, quantity in order.along]
    verdict, reason = judge_order(values, increasing=order.direction is Direction.INCREASING)
    measured = ", ".join(middle(value) for _, value in values if value)
    return ClaimJudgement(verdict, f"{order.name} (must be {order.direction}): {reason}", measured)


def _judge_reference(reference: Reference) -> ClaimJudgement:
    """Judge whether the table that the text points to holds the cells it is about."""
    tables = sorted({f"{cell.row.paper.id}/{cell.row.table.value.table}" for cell in reference.cells})
    stand = " and ".join(tables)
    if tables == [reference.table]:
        return ClaimJudgement(Verdict.REPRODUCED, f"table {reference.table} holds them", stand)
    pointed = f"table {reference.table} is {reference.title!r}"
    if not reference.title:
        pointed = f"there is no table {reference.table.partition('/')[2]}"
    return ClaimJudgement(Verdict.INCONSISTENT, f"the numbers stand in table {stand}; {pointed}", stand)


def _judge_average(average: Average, context: Context) -> ClaimJudgement:
    """Judge an average by its printed members; those that are not printed lie between 0 and the largest score."""
    printed = interval_of(average.cell, context)
    known = sum((interval_of(member, context) for member in average.members), Interval.point(0))
    rest = average.count - len(average.members)
    if rest == 0:
        mean = known * Fraction(1, average.count)
        verdict = Verdict.REPRODUCED if mean.meets(printed) else Verdict.INCONSISTENT
        return ClaimJudgement(verdict, f"the mean of the {average.count} is {middle(mean)}", middle(mean))
    others = (printed * average.count - known) * Fraction(1, rest)
    needed = f"the {rest} that {'is' if rest == 1 else 'are'} not printed must average {middle(others)}"
    if not others.meets(Interval(Fraction(0), average.at_most.value)):
        reason = f"{needed}, but each lies between 0 and {average.at_most.text}"
        return ClaimJudgement(Verdict.INCONSISTENT, reason, middle(others))
    return ClaimJudgement(Verdict.UNVERIFIABLE, f"{needed}, which is possible", middle(others))


def judge_input(statement: Input, context: Context) -> ClaimJudgement:
    """Judge which size the printed FLOPs follow from, each row under its own cell's hypothesis."""
    judged = [_judge_size(row, statement.size, context) for row in statement.rows]
    under = [name for one in judged for name in one.under]
    weak = is_weak(statement.cells, context)
    return judge_rows([one.truth for one in judged], statement.holds_for, under, weak=weak)


def at_size(recipe: Recipe, size: int) -> Recipe:
    """Return the recipe with square images of this side."""
    return recipe.model_copy(update={"image": (size, size)})


@dataclass(frozen=True)
class _JudgedRow:
    """Whether a row takes images of the size, and how what its number follows from departs from the defaults."""

    truth: RowTruth
    under: tuple[str, ...] = ()


def _judge_size(row: Sized, size: int, context: Context) -> _JudgedRow:
    """Judge a row: its FLOPs follow from the claimed size, only from another size, or from none of those tried."""
    name, printed = row.cell.row.row.id, row.cell.printed.text
    claimed = _compare_at(size, row, context)
    if claimed.verdict in PASSES:
        because = f"{printed} follows at {size}"
        return _JudgedRow(RowTruth(row=name, truth=Truth.YES, because=because, values=f"{size}"), claimed.under)
    fitting = [other for other in row.tried if _fits_at(other, row, context)]
    miss = f"{readable(claimed.deciding.value)} at {size}, not {printed}"
    if claimed.verdict is Verdict.UNVERIFIABLE or not fitting:
        because = f"{miss}; none of the sizes tried gives it"
        return _JudgedRow(RowTruth(row=name, truth=Truth.OPEN, because=because, values="none"))
    sizes = " or ".join(map(str, fitting))
    return _JudgedRow(RowTruth(row=name, truth=Truth.NO, because=f"{miss}, which follows at {sizes}", values=sizes))


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
