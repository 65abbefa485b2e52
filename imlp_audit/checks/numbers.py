"""Checks of printed numbers against measurements: cells, and changes between them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from imlp_audit.arithmetic.changes import agree, follows_from_cells, percent_change
from imlp_audit.checks.context import Context
from imlp_audit.compare import Measured, Outcome, compare
from imlp_audit.interval import EXACT, decimal_text, readable
from imlp_audit.printed import Printed, Rounding, parse_printed
from imlp_audit.result import Check, Verdict
from imlp_audit.spec.plan import CellPlan, DeltaPlan, RepeatPlan
from imlp_audit.spec.references import CellRef

NO_MODEL = "no model yet"


def check_cell(plan: CellPlan, context: Context) -> Check:
    """Judge whether a printed cell follows from its row's model."""
    cell = plan.cell
    missing = missing_for(cell)
    if missing is not None:
        return _unmeasured(plan, cell.printed, cell.column.unit, missing)
    outcome = judge(cell, context)
    found = from_outcome(plan, cell.printed, cell.column.unit, outcome)
    if outcome.verdict is Verdict.DIFFERS:
        return found.model_copy(update={"hints": (*found.hints, *_elsewhere(cell, context))})
    return found


def missing_for(cell: CellRef) -> str | None:
    """Say what a cell lacks to be measured, if anything."""
    if not cell.column.measure.counted:
        return f"needs {cell.column.needs}"
    return None if cell.row.row.model is not None else NO_MODEL


def judge(cell: CellRef, context: Context) -> Outcome:
    """Compare a cell that can be measured with its model. Raises NotMeasuredError."""
    recipe, paper = cell.row.row.model, cell.row.paper
    assert recipe is not None
    declared, others = context.measured(paper, recipe, cell.column.measure)
    return compare(cell.printed, declared, context.conventions(paper).roundings, others)


def fits_elsewhere(cell: CellRef, context: Context) -> Iterator[tuple[str, Fraction]]:
    """Yield the other counted columns whose measured value, for this row, prints as this cell does."""
    recipe = cell.row.row.model
    assert recipe is not None
    read = context.conventions(cell.row.paper)
    for name, column in cell.row.table.value.columns.items():
        if name == cell.column_id or not column.measure.counted:
            continue
        printed = parse_printed(f"{cell.printed.text.removesuffix(cell.column.unit)}", column.unit)
        declared, _ = context.measured(cell.row.paper, recipe, column.measure)
        fitting = [m.value for m in declared for rule in read.roundings if m.value in printed.interval(rule)]
        yield from ((name, value) for value in fitting[:1])


def _elsewhere(cell: CellRef, context: Context) -> Iterator[str]:
    for column, value in fits_elsewhere(cell, context):
        heading = cell.row.table.value.columns[column].heading
        yield f"{cell.printed.text} fits the column {heading!r} instead, where {readable(value)} is measured"


def check_delta(plan: DeltaPlan, context: Context) -> Check:
    """Judge whether a printed change follows from the printed cells, or from the measured values."""
    delta = plan.cell.delta
    assert delta is not None
    read = context.conventions(plan.cell.row.paper)
    if not plan.measured:
        verdict, reason = follows_from_cells(delta, plan.cell.printed, plan.base.printed, read.roundings[0])
        return _plain(plan, verdict, reason, delta, "%", context)
    missing = missing_for(plan.cell) or missing_for(plan.base)
    if missing is not None:
        return _unmeasured(plan, delta, "%", missing)
    declared, others = _changes(plan, context)
    return from_outcome(plan, delta, "%", compare(delta, declared, read.roundings, others))


def _changes(plan: DeltaPlan, context: Context) -> tuple[list[Measured], list[Measured]]:
    """Return the measured changes, each between measurements of one reading and one convention."""
    variant, base = plan.cell.row.row.model, plan.base.row.row.model
    assert variant is not None
    assert base is not None
    paper, measure = plan.cell.row.paper, plan.cell.column.measure
    pairs = zip(context.measured(paper, variant, measure), context.measured(paper, base, measure), strict=True)
    declared, others = ([_change(v, b) for v, b in zip(vs, bs, strict=True)] for vs, bs in pairs)
    return declared, others


def _change(variant: Measured, base: Measured) -> Measured:
    uncounted = tuple(sorted({*variant.uncounted, *base.uncounted}))
    return Measured(percent_change(variant.value, base.value), variant.reading, variant.convention, uncounted)


def check_repeat(plan: RepeatPlan, context: Context) -> Check:
    """Judge whether a number that is printed twice is the same."""
    one = plan.cell.delta if plan.delta else plan.cell.printed
    other = plan.other.delta if plan.delta else plan.other.printed
    assert one is not None
    assert other is not None
    name = f"{plan.other.id}.delta" if plan.delta else plan.other.id
    rounding = context.conventions(plan.cell.row.paper).roundings[0]
    verdict, reason = agree(one, other, name, rounding)
    return _plain(plan, verdict, reason, one, "%" if plan.delta else plan.cell.column.unit, context)


NumberPlan = CellPlan | DeltaPlan | RepeatPlan


def _plain(
    plan: DeltaPlan | RepeatPlan, verdict: Verdict, reason: str, printed: Printed, unit: str, context: Context
) -> Check:
    rounding = context.conventions(plan.cell.row.paper).roundings[0]
    return Check(
        id=plan.id, kind=plan.kind, verdict=verdict, reason=reason, source=plan.source,
        printed=printed.text, unit=unit, interval=_ends(printed, rounding), rounding=rounding,
    )  # fmt: skip


def _unmeasured(plan: NumberPlan, printed: Printed, unit: str, missing: str) -> Check:
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
        interval=_ends(printed, outcome.rounding),
        measured=decimal_text(deciding.value, EXACT),
        gap=decimal_text(printed.gap(deciding.value), 1),
        reading=deciding.reading,
        convention=deciding.convention,
        rounding=outcome.rounding,
        under=outcome.under,
        also=outcome.also,
        hints=outcome.hints,
    )


def _ends(printed: Printed, rounding: Rounding) -> tuple[str, str]:
    interval = printed.interval(rounding)
    return decimal_text(interval.low, EXACT), decimal_text(interval.high, EXACT)
