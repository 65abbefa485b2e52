"""Two runs over the same images: are they different, and is it the difference that the paper prints? Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from imlp_audit.errors import UsageError
from imlp_audit.evaluate.statistics import DIGITS, mcnemar, paired_difference, probability_text
from imlp_audit.evaluate.verdict import MOST_UNREADABLE, Fit, fit, reading_departs, why_not_judged
from imlp_audit.numbers.interval import EXACT, Interval, decimal_text, readable
from imlp_audit.records.check import Check, CheckKind, Verdict
from imlp_audit.records.evidence import Accuracy, PairedAccuracy
from imlp_audit.records.result import AuditResult
from imlp_audit.spec.references import CellRef, find_cell

LEVEL = Fraction(1, 20)  # below it, McNemar's test calls a difference significant


@dataclass(frozen=True)
class Run:
    """A printed accuracy, what an evaluation of its row found, and the reading that the model was built under."""

    cell: CellRef
    found: Accuracy
    reading: str | None = None


def pair(first: Accuracy, second: Accuracy) -> PairedAccuracy:
    """Hold two runs against each other, image by image. Raises UsageError where they are not over the same images."""
    if first.metric != second.metric:
        raise UsageError(f"the runs count differently: {first.metric} and {second.metric}")
    if first.data != second.data:
        told = (
            f"one judged {readable(first.images)} images, the other {readable(second.images)}"
            if first.images != second.images
            else "their ids or labels differ"
        )
        raise UsageError(f"the runs are not over the same images: {told}; evaluate both with the same data and --limit")
    both = list(zip(first.right(), second.right(), strict=True))
    first_only, second_only = both.count((True, False)), both.count((False, True))
    lost = max(first.unreadable, second.unreadable)
    low = paired_difference(first_only + lost, second_only, len(both) + lost).low
    high = paired_difference(first_only, second_only + lost, len(both) + lost).high
    return PairedAccuracy(
        metric=first.metric,
        images=len(both),
        both=both.count((True, True)),
        first_only=first_only,
        second_only=second_only,
        difference=decimal_text(Fraction(100 * (second_only - first_only), max(len(both), 1)), EXACT),
        low=decimal_text(low, DIGITS),
        high=decimal_text(high, DIGITS),
        p=probability_text(mcnemar(first_only, second_only)),
        first=first.checkpoint,
        second=second.checkpoint,
    )


def other_run(cell: CellRef, other: AuditResult, shown_as: str) -> Run:
    """Return the run in another result that a cell is held against: that of another row of its table, same column.

    Raises UsageError where there is none, or more than one.
    """
    paper, table = cell.row.paper, cell.row.table.value.table
    wanted = f"{paper.id}/{table}/ROW/{cell.column_id}"
    runs = [
        Run(there, evidence, check.reading)
        for check in other.checks
        if (there := find_cell([paper], check.id)) is not None
        and (there.row.table.value.table, there.column_id) == (table, cell.column_id)
        and check.kind is CheckKind.CELL
        and check.printed == there.printed.text
        for evidence in check.evidence
        if isinstance(evidence, Accuracy)
    ]
    if not runs:
        raise UsageError(f"{shown_as}: no evaluation of {wanted}, as printed there, to hold {cell.id} against")
    if len(runs) > 1:
        told = ", ".join(run.cell.id for run in runs)
        raise UsageError(f"{shown_as}: several evaluations to hold {cell.id} against: {told}; give a file with one")
    if runs[0].cell.id == cell.id:
        raise UsageError(f"{shown_as}: an evaluation of {cell.id} itself; give one of another row of the table")
    return runs[0]


def judge_difference(run: Run, base: Run, most_unreadable: Fraction = MOST_UNREADABLE) -> Check:
    """Judge the difference between two printed accuracies of a table by evaluations of both on the same images.

    Its id is the cell's with `.against.` and the other row's. Raises UsageError where the images are not the same.
    """
    paired = pair(base.found, run.found)
    cell, other = run.cell, base.cell
    failed = next((told for one in (base, run) if (told := why_not_judged(one.found, most_unreadable))), None)
    check = Check(
        id=f"{cell.id}.against.{other.row.row.id}",
        kind=CheckKind.DELTA,
        verdict=Verdict.ERROR,
        reason=failed or "",
        source=cell.row.table.source("rows", cell.row.index, "printed", cell.column_id),
        printed=f"{other.printed.text} to {cell.printed.text}",
        unit="points",
        reading=run.reading,
        hints=tuple(_settings(base.found, run.found)),
        evidence=(paired,),
    )
    if failed:
        return check
    departs = dict.fromkeys((*reading_departs(other, base.reading), *reading_departs(cell, run.reading)))
    fitted = fit(
        lambda rule: cell.printed.interval(rule) - other.printed.interval(rule),
        cell.row.paper.about.value.rounding,
        _over_all(run.found, base.found, paired),
        Interval(Fraction(paired.low), Fraction(paired.high)),
        tuple(departs),
    )
    points = _points(paired)
    step = max(cell.printed.step, other.printed.step)
    judged = {
        "verdict": fitted.verdict,
        "reason": "; ".join((_counted(run, base, paired), _held(paired, fitted), _significance(run, base, paired))),
        "interval": (decimal_text(fitted.printed.low, EXACT), decimal_text(fitted.printed.high, EXACT)),
        "measured": decimal_text(points, EXACT),
        "gap": decimal_text((points - (cell.printed.value - other.printed.value)) / step, 1),
        "rounding": fitted.rounding,
        "under": fitted.under,
    }
    return check.model_copy(update=judged)


def _points(paired: PairedAccuracy) -> Fraction:
    """Return the difference in points of percent, second minus first."""
    return Fraction(100 * (paired.second_only - paired.first_only), paired.images)


def _over_all(run: Accuracy, base: Accuracy, paired: PairedAccuracy) -> Interval | None:
    """Return where the difference over all images of the data set lies, None where some were not evaluated."""
    if not (run.whole and base.whole):
        return None
    lost, gained = max(run.unreadable, base.unreadable), paired.second_only - paired.first_only
    least, most = (Fraction(100 * (gained + either), paired.images + lost) for either in (-lost, lost))
    return Interval(least, most)


def _counted(run: Run, base: Run, paired: PairedAccuracy) -> str:
    return (
        f"of the same {readable(paired.images)} images, {_name(run)} alone has {readable(paired.second_only)} right "
        f"and {_name(base)} alone {readable(paired.first_only)}, a difference of {_signed(_points(paired))} points"
    )


def _held(paired: PairedAccuracy, fitted: Fit) -> str:
    """Say how that goes with the printed numbers."""
    left = f"{fitted.printed}, the differences that the printed numbers leave possible"
    if fitted.equal:
        return f"it lies in {left}"
    meets = "does not meet" if fitted.verdict is Verdict.DIFFERS else "meets"
    return f"its 95 % interval [{paired.low}, {paired.high}] {meets} {left}"


def _significance(run: Run, base: Run, paired: PairedAccuracy) -> str:
    """Say whether chance may explain the difference, and whether its direction is the printed one."""
    test = f"McNemar's exact test has p = {paired.p}"
    if mcnemar(paired.first_only, paired.second_only) >= LEVEL:
        return f"{test}, so these images alone show neither to be better"
    found = paired.second_only - paired.first_only
    printed = run.cell.printed.value - base.cell.printed.value
    better = f"{test}: {_name(run if found > 0 else base)} is the better one"
    if printed == 0:
        return f"{better}, where the printed numbers are equal"
    return f"{better}, {'as' if found * printed > 0 else 'against what'} the paper prints"


def _name(run: Run) -> str:
    return run.cell.row.row.id


def _signed(points: Fraction) -> str:
    return f"{'+' if points > 0 else ''}{readable(points, 3)}"


def _settings(first: Accuracy, second: Accuracy) -> Iterator[str]:
    """Name the settings that two runs do not share."""
    names = [n for n in sorted({*first.settings, *second.settings}) if first.settings.get(n) != second.settings.get(n)]
    told = [f"{n} ({first.settings.get(n, 'not said')}, {second.settings.get(n, 'not said')})" for n in names]
    if told:
        yield f"the two runs had other settings: {', '.join(told)}"
