"""Checks of printed averages, of which a table may print only some members."""

from __future__ import annotations

from fractions import Fraction

from imlp_audit.checks.claim_arithmetic import middle
from imlp_audit.checks.context import Context
from imlp_audit.numbers.interval import Interval
from imlp_audit.numbers.printed import parse_printed
from imlp_audit.records.check import Verdict
from imlp_audit.spec.references import CellRef, find_cell
from imlp_audit.spec.schema_claims import Average


def judge_average(average: Average, context: Context) -> tuple[Verdict, str, str]:
    """Judge an average by its printed members; those that are not printed lie between 0 and the largest score."""
    printed = _interval(_cell(average.cell, context), context)
    known = sum((_interval(_cell(name, context), context) for name in average.of), Interval.point(0))
    rest = average.count - len(average.of)
    if rest == 0:
        mean = known * Fraction(1, average.count)
        verdict = Verdict.REPRODUCED if mean.meets(printed) else Verdict.INCONSISTENT
        return verdict, f"the mean of the {average.count} is {middle(mean)}", middle(mean)
    others = (printed * average.count - known) * Fraction(1, rest)
    told = f"the {rest} that are not printed must average {middle(others)}"
    if not others.meets(Interval(Fraction(0), parse_printed(average.at_most).value)):
        return Verdict.INCONSISTENT, f"{told}, but each lies between 0 and {average.at_most}", middle(others)
    return Verdict.UNVERIFIABLE, f"{told}, which is possible", middle(others)


def _cell(name: str, context: Context) -> CellRef:
    cell = find_cell(context.papers, name)
    assert cell is not None, "spec.rules has seen to it"
    return cell


def _interval(cell: CellRef, context: Context) -> Interval:
    return cell.printed.interval(context.conventions(cell.row.paper).roundings[0])
