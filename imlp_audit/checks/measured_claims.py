"""Sentences about counted numbers: on the values that each option left open gives all cells of a quantity together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from imlp_audit.checks.context import Context, Counter
from imlp_audit.checks.fit import Measured, name_departures_of
from imlp_audit.checks.frames import Countable, countable, frame_of, unless_counted
from imlp_audit.checks.quantities import (
    all_of,
    format_values,
    judge_order,
    judge_relation,
    judge_share,
    middle,
    values_of,
)
from imlp_audit.models.readings import AnyFamily
from imlp_audit.numbers.interval import Interval
from imlp_audit.records.check import RowTruth, Truth, Verdict
from imlp_audit.spec.claim_entries import Direction, Relation
from imlp_audit.spec.claim_quantities import MlpShare, Quantity
from imlp_audit.spec.claims import Condition, Conditions, Order
from imlp_audit.spec.paper import CellRef, RowRef

_Kin = tuple[str, AnyFamily]  # the paper and the family that a reading is chosen for


@dataclass(frozen=True)
class JointValues:
    """One choice of all that is open: the values of cells by their ids, and how the choice departs from defaults."""

    values: Mapping[str, Fraction]
    under: tuple[str, ...]


@dataclass(frozen=True)
class _Counted:
    """A cell, what a reading is chosen for, and its measurements: all that are declared, and those allowed to it.

    Those allowed go by their counters: two papers may call different ones by one name.
    """

    cell: CellRef
    kin: _Kin | None
    declared: Sequence[Measured]
    allowed: Sequence[tuple[Counter, Measured]]

    @property
    def counters(self) -> list[Counter]:
        """The counters that are allowed, in order."""
        return list(dict.fromkeys(counter for counter, _ in self.allowed))

    def under(self, counter: Counter, readings: Mapping[_Kin, str | None]) -> Measured | None:
        """Return the measurement by a counter under readings, if it is allowed."""
        found = (
            one
            for its, one in self.allowed
            if its == counter and (self.kin is None or one.reading == readings[self.kin])
        )
        return next(found, None)


class IncomparableError(Exception):
    """Cells that cannot be compared as counted; the message says why."""


def joint_values_of(cells: Sequence[CellRef], context: Context) -> list[JointValues]:
    """Return each choice that is open, the defaults first.

    Raises IncomparableError for a cell that cannot be counted, or where two counters meet.
    """
    counted = [_count(cell, context) for cell in {cell.id: cell for cell in cells}.values()]
    counters = [counter for counter in counted[0].counters if all(counter in one.counters for one in counted)]
    if not counters:
        raise IncomparableError(
            "its numbers were counted by different conventions: to compare them compares two counts"
        )
    kin = list(dict.fromkeys(one.kin for one in counted if one.kin is not None))
    choices = [list(dict.fromkeys(m.reading for one in counted if one.kin == k for _, m in one.allowed)) for k in kin]
    options = []
    for counter, readings in product(counters, product(*choices)):
        found = [(one, one.under(counter, dict(zip(kin, readings, strict=True)))) for one in counted]
        pairs = [(one, measured) for one, measured in found if measured is not None]
        if len(pairs) == len(found):
            options.append(_join(pairs))
    if not options:
        raise IncomparableError("no reading is left to all of its numbers")
    return options


def is_weak(cells: Sequence[CellRef], context: Context) -> bool:
    """Return whether what the cells are judged under is no clear choice."""
    return any(frame_of(cell, context).weak for cell in cells)


def _count(cell: CellRef, context: Context) -> _Counted:
    found = countable(cell)
    if not isinstance(found, Countable):
        raise IncomparableError(f"{cell.id}: {found}")
    frame, family = frame_of(cell, context), found.recipe.family
    declared, _ = context.measurements(cell.row, found.recipe, cell.column)
    unless_counted(context, cell.row.paper, found.recipe)
    allowed = [one for one in declared if frame.allows(one)]
    unknown = next((one.uncounted for one in allowed if one.uncounted), ())
    if unknown:
        raise IncomparableError(
            f"{cell.id}: no formula counts {', '.join(unknown)}, so the measured value leaves out work"
        )
    read, kin = context.conventions(cell.row.paper), None if family is None else (cell.row.paper.id, family)
    return _Counted(cell, kin, declared, [(read.counter_of(cell.column, one.convention), one) for one in allowed])


def _join(pairs: Sequence[tuple[_Counted, Measured]]) -> JointValues:
    under = (name for one, measured in pairs for name in name_departures_of(measured, one.declared))
    return JointValues({one.cell.id: measured.value for one, measured in pairs}, tuple(dict.fromkeys(under)))


@dataclass(frozen=True)
class ClaimJudgement:
    """The verdict on a statement, why, the values that it rests on, and what it departs from the defaults by."""

    verdict: Verdict
    reason: str
    measured: str
    under: tuple[str, ...] = ()
    weak: bool = False
    by_row: tuple[RowTruth, ...] = ()


def judge_rows(
    truths: Sequence[RowTruth], holds_for: str, under: Sequence[str] = (), *, weak: bool = False
) -> ClaimJudgement:
    """Judge a claim about several rows by the result in each."""
    verdict, reason = judge_share(truths, holds_for)
    measured = "; ".join(f"{truth.row}: {truth.values}" for truth in truths)
    return ClaimJudgement(verdict, reason, measured, tuple(dict.fromkeys(under)), weak, tuple(truths))


def judge_measured_conditions(statement: Conditions, context: Context) -> ClaimJudgement:
    """Judge conditions on counted numbers, each row under its own hypothesis."""
    rows = [
        (row, [_judge(c, row, context) for c in statement.conditions if row.id in c.by_row]) for row in statement.rows
    ]
    truths = [
        judge_row(row, [(one.condition, one.truth, one.values) for one in parts], left_open="cannot be decided")
        for row, parts in rows
        if parts
    ]
    under = [name for _, parts in rows for part in parts for name in part.under]
    cells = [
        c for row in statement.rows for x in statement.conditions if row.id in x.by_row for c in x.by_row[row.id].cells
    ]
    return judge_rows(truths, statement.holds_for, under, weak=is_weak(cells, context))


def judge_measured_order(statement: Order, context: Context) -> ClaimJudgement:
    """Judge an order of counted numbers, all under one hypothesis."""
    cells = [cell for _, quantity in statement.along for cell in quantity.cells]
    increasing, name = statement.direction is Direction.INCREASING, f"{statement.name} (must be {statement.direction})"
    try:
        options = joint_values_of(cells, context)
    except IncomparableError as error:
        return ClaimJudgement(Verdict.UNVERIFIABLE, f"{name}: {error}", "")
    judged = []
    for joint in options:
        values = [(row.row.id, _value_among(quantity, joint)) for row, quantity in statement.along]
        judged.append((judge_order(values, increasing=increasing), ", ".join(middle(v) for _, v in values if v)))
    verdicts = {verdict for (verdict, _), _ in judged}
    (verdict, reason), measured = judged[0]
    if len(verdicts) > 1:
        verdict, reason = Verdict.UNVERIFIABLE, f"{reason}; options that the numbers leave open disagree"
    under = tuple(dict.fromkeys(one for joint in options for one in joint.under))
    return ClaimJudgement(verdict, f"{name}: {reason}", measured, under, is_weak(cells, context))


@dataclass(frozen=True)
class _Judged:
    """A condition in a row: whether it holds, the values that decide it, and how they depart from the defaults."""

    condition: Condition
    truth: Truth
    values: str
    under: tuple[str, ...] = ()


def _judge(condition: Condition, row: RowRef, context: Context) -> _Judged:
    quantity, bound = condition.by_row[row.id], bound_of(condition, row, context)
    try:
        options = joint_values_of(quantity.cells, context)
    except IncomparableError as error:
        return _Judged(condition, Truth.OPEN, f"not comparable: {error}")
    truth, text = judge_options(condition, bound, [_value_among(quantity, joint) for joint in options], quantity)
    under = tuple(dict.fromkeys(name for joint in options for name in joint.under))
    return _Judged(condition, truth, text, under)


def judge_options(
    condition: Condition, bound: Interval, options: Sequence[Interval | None], quantity: Quantity
) -> tuple[Truth, str]:
    """Return whether a condition holds under every option that is open, or under none, and the values under each."""
    truths = {Truth.OPEN if one is None else judge_relation(one, condition.relation, bound) for one in options}
    texts = " or ".join(dict.fromkeys(format_values(quantity, one) for one in options))
    return truths.pop() if len(truths) == 1 else Truth.OPEN, texts


def bound_of(condition: Condition, row: RowRef, context: Context) -> Interval:
    """Return the number that a quantity is compared with; one that it equals is itself rounded."""
    number = condition.bound
    if condition.relation is Relation.EQUALS:
        return number.interval(context.conventions(row.paper).roundings[0])
    return Interval.point(number.value * number.scale)


def judge_row(
    row: RowRef, parts: Sequence[tuple[Condition, Truth, str]], *, left_open: str = "is left open by the printed digits"
) -> RowTruth:
    """Judge a row by all of its conditions, each with the values that it is judged by."""
    overall = all_of([truth for _, truth, _ in parts])
    said = left_open if overall is Truth.OPEN else overall.value
    because = ", ".join(
        f"{c.name} ({values}) {describe_bound(c)} {said}" for c, truth, values in parts if truth is overall
    )
    met, values = sum(truth is Truth.YES for _, truth, _ in parts), (f"{c.name} {values}" for c, _, values in parts)
    return RowTruth(
        row=row.row.id, truth=overall, because=because, values=", ".join(values), met=met, conditions=len(parts)
    )


def describe_bound(condition: Condition) -> str:
    """Write what a condition asks of its quantity."""
    return f"{condition.relation.replace('_', ' ')} {condition.bound.text}"


def _value_among(quantity: Quantity, joint: JointValues) -> Interval | None:
    assert not isinstance(quantity, MlpShare), "a share is measured, and so no part of a counted claim"

    def value(cell: CellRef) -> Interval:
        return Interval.point(joint.values[cell.id])

    return values_of(quantity, value)
