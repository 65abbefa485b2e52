"""Checks of footnote marks: does a marked row need the change that the mark stands for, and no other row?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from imlp_audit.checks.comparison import Comparison, compare
from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.judged_under import Frame, frame_of
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.recipe_changes import describe
from imlp_audit.numbers.interval import decimal_text, readable
from imlp_audit.records.check import NO_MODEL, PASSES, MarkCheck, ModelCount, Verdict
from imlp_audit.spec.plan import MarkPlan


def marked_models(plan: MarkPlan) -> Mapping[str, Recipe]:
    """Return the row's model without the change of the mark, and with it, each by its description."""
    recipe, footnote = plan.cell.recipe, plan.footnote
    changes = (footnote.otherwise, footnote.marked)
    return {describe(change): recipe.with_change(change) for change in changes} if recipe is not None else {}


def check_mark(plan: MarkPlan, context: Context) -> MarkCheck:
    """Judge, under each declared reading, which of the two models the row's printed number needs."""
    footnote, row = plan.footnote, plan.row.row
    meant, other = describe(footnote.change(row.mark)), describe(footnote.opposite(row.mark))
    printed = f"{'marked ' + footnote.mark if row.mark else 'no mark'}: {meant}"
    models = marked_models(plan)
    made = MarkCheck(id=plan.id, verdict=Verdict.UNVERIFIABLE, reason=NO_MODEL, source=plan.source, printed=printed)
    if not models:
        return made
    frame = frame_of(plan.cell, context)
    found = {name: _compare(plan, context, recipe, frame) for name, recipe in models.items()}
    declared = list(context.conventions(plan.row.paper).readings)
    readings = [name for name in declared if frame.allows_reading(name)]
    pairs = [(name, found[meant].get(name), found[other].get(name)) for name in readings]
    verdict, under = _verdict(pairs, usual=declared[0])
    failed = [reason for recipe in models.values() for reason in context.failures(plan.row.paper, recipe)]
    if failed and verdict not in PASSES:
        raise NotMeasuredError(failed[0])
    fitting = [f"under {name} {_fitting(found, name)}" for name in readings]
    values = [
        (name, reading, outcome.deciding.value)
        for name, outcomes in found.items()
        for reading, outcome in outcomes.items()
    ]
    counts = tuple(ModelCount(change=name, reading=one, measured=decimal_text(value)) for name, one, value in values)
    return made.model_copy(
        update={
            "verdict": verdict,
            "reason": f"{plan.cell.column.heading}: {', '.join(fitting)}",
            "measured": ", ".join(f"{name} {reading}: {readable(value)}" for name, reading, value in values),
            "under": under,
            "counts": counts,
            "weak": frame.weak and verdict in PASSES,
        }
    )


def _compare(plan: MarkPlan, context: Context, recipe: Recipe, frame: Frame) -> dict[str | None, Comparison]:
    """Compare the printed number with a model, under each reading; one not left to the row is for the record."""
    declared, _ = context.measurements(plan.row, recipe, plan.cell.column)
    printed, rules = plan.cell.printed, context.conventions(plan.row.paper).roundings_of(plan.cell.column)
    found = {}
    for name in dict.fromkeys(one.reading for one in declared):
        ways = frame.ways([one for one in declared if one.reading == name], rules)
        if not frame.allows_reading(name):
            ways = replace(ways, allowed=ways.declared)
        if ways.allowed:
            found[name] = compare(printed, ways)
    return found


def _fitting(found: Mapping[str, Mapping[str | None, Comparison]], reading: str | None) -> str:
    fitting = [name for name, outcomes in found.items() if reading in outcomes and outcomes[reading].verdict in PASSES]
    return f"{' and '.join(fitting) or 'neither'} {'fit' if len(fitting) > 1 else 'fits'}"


def _verdict(
    found: Sequence[tuple[str | None, Comparison | None, Comparison | None]], usual: str | None
) -> tuple[Verdict, tuple[str, ...]]:
    """Judge the readings: one decides where the meant model fits and the other (None if it failed) surely does not."""
    for name, meant, other in found:
        if meant and other and meant.verdict in PASSES and other.verdict is Verdict.DIFFERS:
            under = (*((f"reading {name}",) if name != usual else ()), *meant.under)
            return (Verdict.REPRODUCED_UNDER if under else Verdict.REPRODUCED), under
    undecided = any(
        outcome is not None and outcome.verdict is Verdict.UNVERIFIABLE
        for _, *outcomes in found
        for outcome in outcomes
    )
    both_fit = any(meant is not None and meant.verdict in PASSES for _, meant, _ in found)
    return (Verdict.UNVERIFIABLE if undecided or both_fit else Verdict.DIFFERS), ()
