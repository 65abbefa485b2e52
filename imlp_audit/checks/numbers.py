"""What checks of printed numbers share: what a cell lacks, and putting a comparison on record."""

from __future__ import annotations

from imlp_audit.checks.compare import Outcome
from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.interval import EXACT, decimal_text
from imlp_audit.numbers.printed import Printed, Rounding
from imlp_audit.records.check import Check, Verdict
from imlp_audit.spec.loader import Paper
from imlp_audit.spec.plan import CellPlan, DeltaPlan, RepeatPlan
from imlp_audit.spec.references import CellRef

NO_MODEL = "the spec gives no model"
NumberPlan = CellPlan | DeltaPlan | RepeatPlan


def missing_for(cell: CellRef) -> str | None:
    """Say what a cell lacks to be measured, if anything."""
    if not cell.column.measure.counted:
        return f"needs {cell.column.needs}"
    return None if cell.row.row.model is not None else NO_MODEL


def unless_missing(outcome: Outcome, context: Context, paper: Paper, *recipes: Recipe) -> Outcome:
    """Return the outcome; a number that a reading which failed might have given cannot be said to differ."""
    failed = [told for recipe in recipes for told in context.failures(paper, recipe)]
    if outcome.verdict is Verdict.DIFFERS and failed:
        raise NotMeasuredError(failed[0])
    return outcome


def unmeasured(plan: NumberPlan, printed: Printed, unit: str, missing: str) -> Check:
    """Put on record that a number cannot be checked, and what is missing."""
    return Check(
        id=plan.id, kind=plan.kind, verdict=Verdict.UNVERIFIABLE, reason=missing, source=plan.source,
        printed=printed.text, unit=unit,
    )  # fmt: skip


def from_outcome(plan: NumberPlan, printed: Printed, unit: str, outcome: Outcome) -> Check:
    """Put a comparison on record."""
    deciding = outcome.deciding
    return Check(
        id=plan.id,
        kind=plan.kind,
        verdict=outcome.verdict,
        reason=outcome.reason,
        source=plan.source,
        printed=printed.text,
        unit=unit,
        interval=ends(printed, outcome.rounding),
        measured=decimal_text(deciding.value, EXACT),
        gap=decimal_text(printed.gap(deciding.value), 1),
        reading=deciding.reading,
        convention=deciding.convention,
        rounding=outcome.rounding,
        under=outcome.under,
        also=outcome.also,
        hints=outcome.hints,
    )


def ends(printed: Printed, rounding: Rounding) -> tuple[str, str]:
    """Return the ends of the interval that a number stands for, as text."""
    interval = printed.interval(rounding)
    return decimal_text(interval.low, EXACT), decimal_text(interval.high, EXACT)
