"""Checks of printed averages, of which a table may print only some members."""

from __future__ import annotations

from fractions import Fraction

from imlp_audit.arithmetic.claims import middle
from imlp_audit.checks.context import Context
from imlp_audit.interval import Interval
from imlp_audit.printed import parse_printed
from imlp_audit.result import Verdict
from imlp_audit.spec.references import CellRef, find_cell
from imlp_audit.spec.schema_claims import Average


def judge_average(average: Average, context: Context) -> tuple[Verdict, str, str]:
    """Judge an average by its printed members; those that are not printed lie between 0 and the largest score."""
    printed = _interval(_cell(average.cell, context), context)
    known = [_interval(_cell(name, context), context) for name in average.of]
    least = sum((one.low for one in known), Fraction(0))
    most = sum((one.high for one in known), Fraction(0))
    rest = average.count - len(known)
    if rest == 0:
        mean = Interval(least / average.count, most / average.count)
        verdict = Verdict.REPRODUCED if mean.meets(printed) else Verdict.INCONSISTENT
        return verdict, f"the mean of the {average.count} is {middle(mean)}", middle(mean)
    others = Interval((printed.low * average.count - most) / rest, (printed.high * average.count - least) / rest)
    told = f"the {rest} that are not printed must average {middle(others)}"
    limit = parse_printed(average.at_most).value
    if others.low > limit or others.high < 0:
        return Verdict.INCONSISTENT, f"{told}, but none is above {average.at_most}", middle(others)
    return Verdict.UNVERIFIABLE, f"{told}, which is possible", middle(others)


def _cell(name: str, context: Context) -> CellRef:
    cell = find_cell(context.papers, name)
    assert cell is not None, "spec.rules has seen to it"
    return cell


def _interval(cell: CellRef, context: Context) -> Interval:
    return cell.printed.interval(context.conventions(cell.row.paper).roundings[0])
