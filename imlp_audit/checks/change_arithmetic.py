"""Printed changes and repeated numbers: do they follow from the cells they are about?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.printed import Printed, Rounding
from imlp_audit.records.check import Verdict


def percent_change(value: Fraction, base: Fraction) -> Fraction:
    """Return the change from `base` to `value` in percent. Raises ZeroDivisionError for a base of 0."""
    return (value / base - 1) * 100


@dataclass(frozen=True)
class Agreement:
    """Whether printed numbers go together: under which rounding rule, by what they were judged, and a lead if not."""

    verdict: Verdict
    reason: str
    rounding: Rounding
    judged_by: str
    hints: tuple[str, ...] = ()


def follows_from_cells(delta: Printed, cell: Printed, base: Printed, roundings: Sequence[Rounding]) -> Agreement:
    """Say whether some values that print as the two cells have a change that prints as `delta`.

    Of the rounding rules the first is the default, the rest are declared; one rule holds for all three numbers.
    """
    judged_by = f"{base.text} to {cell.text}"
    usual = roundings[0]
    possible = cell.interval(usual).change_from(base.interval(usual))
    if possible is None or base.value == 0:
        reason = f"a change in percent from {base.text} is not defined"
        return Agreement(Verdict.UNVERIFIABLE, reason, usual, judged_by)
    plain = readable(percent_change(cell.value, base.value), 2)
    between = f"between {readable(possible.low, 2)} and {readable(possible.high, 2)} before rounding"
    reason = f"{judged_by} is a change of {plain} %, {between}"

    def meets(rule: Rounding) -> bool:
        change = cell.interval(rule).change_from(base.interval(rule))
        return change is not None and change.meets(delta.interval(rule))

    return _agreement(meets, roundings, reason, f"{reason}; {delta.text} is not among them", judged_by)


def agree(
    one: Printed, other: Printed, other_id: str, roundings: Sequence[Rounding], theirs: Sequence[Rounding] = ()
) -> Agreement:
    """Say whether one value can print as both numbers, each at its own precision.

    The other number may be of a paper with other rules (`theirs`): its default one then holds for it, too.
    """

    def meets(rule: Rounding) -> bool:
        return any(one.interval(rule).meets(other.interval(its)) for its in (rule, *theirs[:1]))

    told = f"{other_id} prints {other.text}"
    return _agreement(meets, roundings, told, f"{told}, here it is {one.text}", other.text)


def _agreement(
    meets: Callable[[Rounding], bool], roundings: Sequence[Rounding], success: str, failure: str, judged_by: str
) -> Agreement:
    for rule in roundings:
        if meets(rule):
            verdict = Verdict.REPRODUCED if rule is roundings[0] else Verdict.REPRODUCED_UNDER
            return Agreement(verdict, success, rule, judged_by)
    hints = tuple(
        f"they would go together under rounding {rule}, which the spec does not declare"
        for rule in Rounding
        if rule not in roundings and meets(rule)
    )
    return Agreement(Verdict.INCONSISTENT, failure, roundings[0], judged_by, hints)
