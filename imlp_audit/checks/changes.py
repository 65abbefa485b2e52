"""Checks of printed changes and of numbers that are printed twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from imlp_audit.checks.context import Context
from imlp_audit.checks.measured_changes import check_measured_change, percent_change
from imlp_audit.checks.printed import interval_ends, write_sign_hint
from imlp_audit.numbers.interval import Interval, readable
from imlp_audit.numbers.printed import LIKELY, Printed, Rounding
from imlp_audit.records.check import PASSES, DeltaCheck, RepeatCheck, Verdict
from imlp_audit.spec.plan import DeltaPlan, RepeatPlan

C = TypeVar("C", DeltaCheck, RepeatCheck)


def check_delta(plan: DeltaPlan, context: Context) -> DeltaCheck:
    """Judge whether a printed change follows from the printed cells, or from the measured values."""
    if plan.measured:
        return check_measured_change(plan, context)
    delta = plan.change
    read = context.conventions(plan.cell.row.paper)
    own = read.roundings_of(plan.cell.column) if plan.cell.column.measure in read.about.rounding_of else ()
    agreement = follows_from_cells(delta, plan.cell.printed, plan.base.printed, read.roundings, own)
    return _from_agreement(DeltaCheck, plan, delta, "%", agreement, read.roundings[0])


def check_repeat(plan: RepeatPlan, context: Context) -> RepeatCheck:
    """Judge whether a number that is printed twice is the same in both places."""
    one, other = plan.numbers
    name = f"{plan.other.id}.delta" if plan.delta else plan.other.id
    read, its = (context.conventions(cell.row.paper) for cell in (plan.cell, plan.other))
    roundings = read.roundings if plan.delta else read.roundings_of(plan.cell.column)
    theirs = its.roundings if plan.delta else its.roundings_of(plan.other.column)
    unit = "%" if plan.delta else plan.cell.unit
    agreement = agree(one, other, name, roundings, theirs)
    agreement = replace(agreement, reason=f"{agreement.reason}; {plan.matched_by}")
    if agreement.verdict is Verdict.INCONSISTENT and plan.other.row.paper.id != plan.cell.row.paper.id:
        agreement = replace(agreement, verdict=Verdict.DIFFERS)  # two papers disagree; neither contradicts itself
    if agreement.verdict is Verdict.INCONSISTENT and not plan.said:
        hint = "if its model was trained differently, say how: `training` of the row"
        agreement = replace(agreement, hints=(*agreement.hints, hint))
    check = _from_agreement(RepeatCheck, plan, one, unit, agreement, roundings[0])
    return check.model_copy(update={"repeats": plan.other.id})


def _from_agreement(
    kind: type[C], plan: DeltaPlan | RepeatPlan, printed: Printed, unit: str, agreement: Agreement, usual: Rounding
) -> C:
    """Record how a printed number agrees with others."""
    return kind(
        id=plan.id,
        verdict=agreement.verdict,
        reason=agreement.reason,
        source=plan.source,
        printed=printed.text,
        unit=unit,
        interval=interval_ends(printed, agreement.rounding),
        measured=agreement.judged_by,
        rounding=agreement.rounding,
        under=agreement.under or (() if agreement.rounding is usual else (f"rounding {agreement.rounding}",)),
        hints=agreement.hints,
    )


@dataclass(frozen=True)
class Agreement:
    """Whether printed numbers agree: under which rounding rule, what they were judged by, and a hint if not.

    `under` is given where the rule of another number departs.
    """

    verdict: Verdict
    reason: str
    rounding: Rounding
    judged_by: str
    hints: tuple[str, ...] = ()
    under: tuple[str, ...] = ()


def follows_from_cells(
    delta: Printed, cell: Printed, base: Printed, roundings: Sequence[Rounding], own: Sequence[Rounding] = ()
) -> Agreement:
    """Say whether some values that print as the two cells have a change that prints as `delta`.

    The first rounding rule is the default, the rest are declared; one rule holds for all three numbers, unless the
    cells have rules of their `own`.
    """
    found = [_follows(delta, cell, base, roundings, rule) for rule in own or (None,)]
    agreement = next((one for one in found if one.verdict in PASSES), found[0])
    if agreement is found[0] or agreement.verdict not in PASSES:
        return agreement
    under = (f"rounding {own[found.index(agreement)]} of the two numbers",)
    return replace(agreement, verdict=Verdict.REPRODUCED_UNDER, under=under)


def _follows(
    delta: Printed, cell: Printed, base: Printed, roundings: Sequence[Rounding], own: Rounding | None
) -> Agreement:
    """Judge a change under one rule for the cells, or under the change's."""
    judged_by = f"{base.text} to {cell.text}"
    usual = own or roundings[0]
    possible = cell.interval(usual).change_from(base.interval(usual))
    if possible is None or base.value == 0:
        reason = f"a change in percent from {base.text} is not defined"
        return Agreement(Verdict.UNVERIFIABLE, reason, roundings[0], judged_by)
    plain = readable(percent_change(cell.value * cell.scale, base.value * base.scale), 2)
    between = f"between {readable(possible.low, 2)} and {readable(possible.high, 2)} before rounding"
    reason = f"{judged_by} is a change of {plain} %, {between}"

    def meets(rule: Rounding) -> bool:
        change = cell.interval(own or rule).change_from(base.interval(own or rule))
        return change is not None and change.meets(delta.interval(rule))

    found = _agreement(meets, roundings, reason, f"{reason}; {delta.text} is not among them", judged_by)
    return _with_sign_hint(found, delta, possible)


def _with_sign_hint(found: Agreement, delta: Printed, possible: Interval) -> Agreement:
    """Add a hint where a change has the size that is printed and the other sign."""
    opposite = delta.negated.interval(found.rounding)
    if found.verdict is not Verdict.INCONSISTENT or not possible.meets(opposite):
        return found
    return replace(found, hints=(*found.hints, write_sign_hint(delta)))


def agree(
    one: Printed, other: Printed, other_id: str, roundings: Sequence[Rounding], theirs: Sequence[Rounding] = ()
) -> Agreement:
    """Say whether one value can print as both numbers, each at its own precision.

    The other number may belong to a paper with other rules (`theirs`), whose default rule then holds for it.
    """

    def meets(rule: Rounding) -> bool:
        return any(one.interval(rule).meets(other.interval(its)) for its in (rule, *theirs[:1]))

    reason = f"{other_id} prints {other.text}"
    return _agreement(meets, roundings, reason, f"{reason}, here it is {one.text}", other.text)


def _agreement(
    meets: Callable[[Rounding], bool], roundings: Sequence[Rounding], success: str, failure: str, judged_by: str
) -> Agreement:
    for rule in roundings:
        if meets(rule):
            verdict = Verdict.REPRODUCED if rule is roundings[0] else Verdict.REPRODUCED_UNDER
            return Agreement(verdict, success, rule, judged_by)
    hints = tuple(
        f"they would agree under rounding {rule}, which the spec does not declare"
        for rule in LIKELY
        if rule not in roundings and meets(rule)
    )
    return Agreement(Verdict.INCONSISTENT, failure, roundings[0], judged_by, hints)
