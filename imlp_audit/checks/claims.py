"""Checks of the paper's sentences about its own numbers, and about the size of the images that models take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import assert_never

from imlp_audit.checks.cells import judge
from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.judged_under import Countable, frame_of
from imlp_audit.checks.quantities import (
    IncomparableError,
    all_of,
    format_values,
    interval_of,
    judge_order,
    judge_relation,
    judge_share,
    middle,
    options_of,
)
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.interval import Interval, readable
from imlp_audit.records.check import PASSES, ClaimCheck, RowTruth, Truth, Verdict
from imlp_audit.spec.claim_entries import Direction, MeaningEntry, Relation
from imlp_audit.spec.claims import Average, Condition, Conditions, Input, Order, Reference, Sized, Statement
from imlp_audit.spec.paper import CellRef, Paper, RowRef
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


@dataclass(frozen=True)
class ClaimJudgement:
    """The verdict on a statement, why, the values that it rests on, and what it departs from the defaults by."""

    verdict: Verdict
    reason: str
    measured: str
    under: tuple[str, ...] = ()
    weak: bool = False
    by_row: tuple[RowTruth, ...] = ()


def _judge(statement: Statement, context: Context, *, measured: bool) -> ClaimJudgement:
    match statement:
        case Conditions():
            return _judge_conditions(statement, context, measured=measured)
        case Order():
            return _judge_order(statement, context, measured=measured)
        case Reference():
            return _judge_reference(statement)
        case Average():
            return _judge_average(statement, context)
        case Input():
            return _judge_input(statement, context)
        case _:
            assert_never(statement)


def _judge_rows(
    truths: Sequence[RowTruth], holds_for: str, under: Iterable[str], cells: Sequence[CellRef], context: Context
) -> ClaimJudgement:
    """Judge a claim about several rows by the result in each; `cells` are those whose hypothesis it is judged under."""
    verdict, reason = judge_share(truths, holds_for)
    measured = "; ".join(f"{truth.row}: {truth.values}" for truth in truths)
    weak = _is_weak(cells, context)
    return ClaimJudgement(verdict, reason, measured, tuple(dict.fromkeys(under)), weak, tuple(truths))


def _is_weak(cells: Sequence[CellRef], context: Context) -> bool:
    """Return whether what the cells are judged under is no clear choice."""
    return any(frame_of(cell, context).weak for cell in cells)


def models_of_claim(plan: ClaimPlan) -> Iterator[tuple[Paper, Recipe]]:
    """Yield the models that a claim about printed numbers needs, each with its paper; a measured one has its cells'."""
    for statement in () if plan.measured else plan.meanings.all:
        match statement:
            case Conditions() | Order():
                yield from ((share.cell.row.paper, share.recipe) for share in statement.shares)
            case Input():
                for row in statement.rows:
                    yield from ((row.cell.row.paper, at_size(row.recipe, s)) for s in (statement.size, *row.tried))
            case Reference() | Average():
                continue
            case _:
                assert_never(statement)


def papers_of_claim(plan: ClaimPlan) -> Iterator[Paper]:
    """Yield the papers whose hypothesis a claim is judged under: none where it is judged on printed numbers alone."""
    for statement in plan.meanings.all:
        shares = isinstance(statement, Conditions | Order) and statement.shares
        if plan.measured or shares or isinstance(statement, Input):
            yield from (cell.row.paper for cell in statement.cells)


@dataclass(frozen=True)
class _Judged:
    """A condition in a row: whether it holds, the values that decide it, and how they depart from the defaults."""

    condition: Condition
    truth: Truth
    values: str
    under: tuple[str, ...] = ()


def _judge_conditions(statement: Conditions, context: Context, *, measured: bool) -> ClaimJudgement:
    """Judge the conditions in each row that they are about; counted numbers each under their own hypothesis."""
    rows = [
        (
            row,
            [_judge_condition(c, row, context, measured=measured) for c in statement.conditions if row.id in c.by_row],
        )
        for row in statement.rows
    ]
    truths = [_judge_row(row.row.id, parts, measured=measured) for row, parts in rows if parts]
    under = (name for _, parts in rows for part in parts for name in part.under)
    return _judge_rows(truths, statement.holds_for, under, statement.cells if measured else (), context)


def _judge_condition(condition: Condition, row: RowRef, context: Context, *, measured: bool) -> _Judged:
    """Judge whether a condition holds under every option that is open, or under none."""
    quantity, number = condition.by_row[row.id], condition.bound
    bound = Interval.point(number.value * number.scale)
    if condition.relation is Relation.EQUALS:  # to a number that is itself rounded
        bound = number.interval(context.conventions(row.paper).roundings[0])
    try:
        options = options_of([quantity], context, measured=measured)
    except IncomparableError as error:
        return _Judged(condition, Truth.OPEN, f"not comparable: {error}")
    values = [one.values[0] for one in options]
    truths = {Truth.OPEN if one is None else judge_relation(one, condition.relation, bound) for one in values}
    texts = " or ".join(dict.fromkeys(format_values(quantity, one) for one in values))
    under = (name for one in options for name in one.under)
    return _Judged(condition, truths.pop() if len(truths) == 1 else Truth.OPEN, texts, tuple(dict.fromkeys(under)))


def _judge_row(name: str, parts: Sequence[_Judged], *, measured: bool) -> RowTruth:
    """Judge a row by all of its conditions, each with the values that it is judged by."""
    overall = all_of([one.truth for one in parts])
    said = overall.value
    if overall is Truth.OPEN:
        said = "cannot be decided" if measured else "is left open by the printed digits"
    because = (
        f"{one.condition.name} ({one.values}) {one.condition.relation.replace('_', ' ')} "
        f"{one.condition.bound.text} {said}"
        for one in parts
        if one.truth is overall
    )
    return RowTruth(
        row=name,
        truth=overall,
        because=", ".join(because),
        values=", ".join(f"{one.condition.name} {one.values}" for one in parts),
        met=sum(one.truth is Truth.YES for one in parts),
        conditions=len(parts),
    )


def _judge_order(order: Order, context: Context, *, measured: bool) -> ClaimJudgement:
    """Judge whether a quantity only grows, or only shrinks, along the rows, all of them under one hypothesis."""
    increasing, name = order.direction is Direction.INCREASING, f"{order.name} (must be {order.direction})"
    try:
        options = options_of(order.quantities, context, measured=measured)
    except IncomparableError as error:
        return ClaimJudgement(Verdict.UNVERIFIABLE, f"{name}: {error}", "")
    ids = [row.row.id for row, _ in order.along]
    judged = [judge_order(list(zip(ids, one.values, strict=True)), increasing=increasing) for one in options]
    verdict, reason = judged[0]
    if len({each for each, _ in judged}) > 1:
        verdict, reason = Verdict.UNVERIFIABLE, f"{reason}; options that the numbers leave open disagree"
    values = ", ".join(middle(value) for value in options[0].values if value)
    under = tuple(dict.fromkeys(one for option in options for one in option.under))
    return ClaimJudgement(verdict, f"{name}: {reason}", values, under, measured and _is_weak(order.cells, context))


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


def _judge_input(statement: Input, context: Context) -> ClaimJudgement:
    """Judge which size the printed FLOPs follow from, each row under its own cell's hypothesis."""
    judged = [_judge_size(row, statement.size, context) for row in statement.rows]
    under = (name for _, names in judged for name in names)
    return _judge_rows([truth for truth, _ in judged], statement.holds_for, under, statement.cells, context)


def at_size(recipe: Recipe, size: int) -> Recipe:
    """Return the recipe with square images of this side."""
    return recipe.model_copy(update={"image": (size, size)})


def _judge_size(row: Sized, size: int, context: Context) -> tuple[RowTruth, tuple[str, ...]]:
    """Judge a row: its FLOPs follow from the claimed size, only from another, or none; with how that departs."""
    name, printed = row.cell.row.row.id, row.cell.printed.text
    claimed = judge(Countable(row.cell, at_size(row.recipe, size)), context)
    if claimed.verdict in PASSES:
        because = f"{printed} follows at {size}"
        return RowTruth(row=name, truth=Truth.YES, because=because, values=f"{size}"), claimed.under
    fitting = [other for other in row.tried if _fits_at(other, row, context)]
    miss = f"{readable(claimed.deciding.value)} at {size}, not {printed}"
    if claimed.verdict is Verdict.UNVERIFIABLE or not fitting:
        because = f"{miss}; none of the sizes tried gives it"
        return RowTruth(row=name, truth=Truth.OPEN, because=because, values="none"), ()
    sizes = " or ".join(map(str, fitting))
    return RowTruth(row=name, truth=Truth.NO, because=f"{miss}, which follows at {sizes}", values=sizes), ()


def _fits_at(size: int, row: Sized, context: Context) -> bool:
    try:
        return judge(Countable(row.cell, at_size(row.recipe, size)), context).verdict in PASSES
    except NotMeasuredError:  # a model that cannot take this size was not counted at it
        return False
