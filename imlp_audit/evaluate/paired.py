"""Two runs over the same images: do they differ, and by as much as the paper prints? Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from imlp_audit.errors import UsageError
from imlp_audit.evaluate.sampling import (
    DIGITS,
    Sample,
    Stake,
    describe_need,
    find_stake,
    mcnemar,
    paired_difference,
    probability_text,
)
from imlp_audit.evaluate.verdict import (
    SampledFit,
    compare_sampled,
    departing_reading,
    is_complete,
    size_of_data,
    why_not_judged,
)
from imlp_audit.numbers.interval import EXACT, Interval, decimal_text, readable
from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import CellCheck, DeltaCheck, Verdict
from imlp_audit.records.evidence import Accuracy, PairedAccuracy
from imlp_audit.records.result import AuditResult
from imlp_audit.spec.paper import CellRef, find_cell

LEVEL = Fraction(1, 20)  # below it a difference is significant by McNemar's test
SAME = (
    "both runs used the same file and agree on every image, so they say nothing about a difference between two rows; "
    "evaluate each row's own checkpoint"
)
POINTS = Interval(Fraction(-100), Fraction(100))


@dataclass(frozen=True)
class EvaluatedCell:
    """A printed accuracy, an evaluation of its row, and the reading that the model was built under."""

    cell: CellRef
    accuracy: Accuracy
    reading: str | None = None


def pair_runs(first: Accuracy, second: Accuracy) -> PairedAccuracy:
    """Compare two runs image by image. Raises UsageError if they are not over the same images."""
    if first.metric != second.metric:
        raise UsageError(f"the runs have different metrics: {first.metric} and {second.metric}")
    difference = _difference_of_images(first, second)
    if difference is not None:
        raise UsageError(
            f"the runs are not over the same images: {difference}; evaluate both with the same data and --limit"
        )
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


def _difference_of_images(first: Accuracy, second: Accuracy) -> str | None:
    if first.data != second.data:
        if first.images != second.images:
            return f"one evaluated {count_of(first.images, 'image')}, the other {readable(second.images)}"
        return "their ids or labels differ"
    known = first.contents is not None and second.contents is not None
    return "files of the same names have other bytes" if known and first.contents != second.contents else None


def other_run(cell: CellRef, other: AuditResult, file: str) -> EvaluatedCell:
    """Return the run in another result to compare a cell with: another row of its table, in the same column.

    Raises UsageError if there is none, or more than one.
    """
    paper, table = cell.row.paper, cell.row.table.value.table
    wanted = f"{paper.id}/{table}/ROW/{cell.column_id}"
    runs = [
        EvaluatedCell(there, evidence, check.reading)
        for check in other.checks
        if (there := find_cell([paper], check.id)) is not None
        and (there.row.table.value.table, there.column_id) == (table, cell.column_id)
        and isinstance(check, CellCheck)
        and check.printed == there.printed.text
        for evidence in check.evidence
        if isinstance(evidence, Accuracy)
    ]
    if not runs:
        raise UsageError(f"{file}: no evaluation of {wanted}, as printed there, to compare {cell.id} with")
    if len(runs) > 1:
        several = ", ".join(run.cell.id for run in runs)
        raise UsageError(f"{file}: several evaluations to compare {cell.id} with: {several}; give a file with one")
    if runs[0].cell.id == cell.id:
        raise UsageError(f"{file}: this is an evaluation of {cell.id} itself; give one of another row of the table")
    return runs[0]


def judge_difference(run: EvaluatedCell, base: EvaluatedCell) -> DeltaCheck:
    """Judge the difference between two printed accuracies of a table by evaluations of both on the same images.

    The check's id is the cell's with `.against.` and the other row's. Raises UsageError if the images are not the same.
    """
    paired = pair_runs(base.accuracy, run.accuracy)
    cell, other = run.cell, base.cell
    sizes = [(one.accuracy, size_of_data(one.cell)) for one in (base, run)]
    failed = next((why for one, size in sizes if (why := why_not_judged(one, size))), None)
    check = DeltaCheck(
        id=f"{cell.id}.against.{other.row.row.id}",
        verdict=Verdict.ERROR,
        reason=failed or "",
        source=cell.row.table.source("rows", cell.row.index, "printed", cell.column_id),
        place=cell.place,
        printed=f"{other.printed.text} to {cell.printed.text}",
        unit="points",
        reading=run.reading,
        hints=tuple(_compare_settings(base.accuracy, run.accuracy)),
        evidence=(paired,),
    )
    if failed:
        return check
    if _is_itself(paired):
        reason = f"{_describe_counts(run, base, paired)}; {SAME}"
        return check.model_copy(update={"verdict": Verdict.UNVERIFIABLE, "reason": reason})
    stake = _stake(run, base)
    departs = dict.fromkeys((*departing_reading(other, base.reading), *departing_reading(cell, run.reading)))
    fit = compare_sampled(
        lambda rule: cell.printed.interval(rule) - other.printed.interval(rule),
        cell.row.paper.about.value.rounding,
        _difference_over_all(run, base, paired) or _sample(paired),
        stake.points if stake is not None else None,
        tuple(departs),
    )
    points = _points(paired)
    step = max(cell.printed.step, other.printed.step)
    update = {
        "verdict": fit.verdict,
        "reason": "; ".join(
            (
                _describe_counts(run, base, paired),
                _describe_fit(run, base, paired, fit),
                _describe_significance(run, base, paired),
            )
        ),
        "interval": (decimal_text(fit.printed.low, EXACT), decimal_text(fit.printed.high, EXACT)),
        "measured": decimal_text(points, EXACT),
        "gap": decimal_text((points - (cell.printed.value - other.printed.value)) / step, 1),
        "rounding": fit.rounding,
        "under": fit.under,
    }
    return check.model_copy(update=update)


def _points(paired: PairedAccuracy) -> Fraction:
    """Return the difference in points of percent, second minus first."""
    return Fraction(100 * (paired.second_only - paired.first_only), paired.images)


def _is_itself(paired: PairedAccuracy) -> bool:
    return paired.first == paired.second and paired.first_only == paired.second_only == 0


def _stake(run: EvaluatedCell, base: EvaluatedCell) -> Stake | None:
    """Return the difference that a sample must exclude: the printed one, or a smaller one of such scores."""
    difference = abs(run.cell.printed.value - base.cell.printed.value)
    stakes = (Stake(difference, base.cell, run.cell) if difference else None, find_stake(run.cell))
    return min((stake for stake in stakes if stake is not None), key=lambda stake: stake.points, default=None)


def _sample(paired: PairedAccuracy) -> Sample:
    return Sample(
        paired.images,
        _points(paired),
        Interval(Fraction(paired.low), Fraction(paired.high)),
        lambda points, images: _interval_of(paired, images, points),
        POINTS,
    )


def _complete(run: EvaluatedCell, base: EvaluatedCell) -> bool:
    return is_complete(run.accuracy, run.cell) and is_complete(base.accuracy, base.cell)


def _difference_over_all(run: EvaluatedCell, base: EvaluatedCell, paired: PairedAccuracy) -> Interval | None:
    """Return where the difference over all images of the data set lies; None if some were not evaluated."""
    if not _complete(run, base):
        return None
    lost = max(run.accuracy.unreadable, base.accuracy.unreadable)
    gained = paired.second_only - paired.first_only
    least, most = (Fraction(100 * (gained + either), paired.images + lost) for either in (-lost, lost))
    return Interval(least, most)


def _describe_counts(run: EvaluatedCell, base: EvaluatedCell, paired: PairedAccuracy) -> str:
    return (
        f"of the same {count_of(paired.images, 'image')}, {_name(run)} alone gets {readable(paired.second_only)} right "
        f"and {_name(base)} alone {readable(paired.first_only)}, a difference of {_sign(_points(paired))} points"
    )


def _describe_fit(run: EvaluatedCell, base: EvaluatedCell, paired: PairedAccuracy, fit: SampledFit) -> str:
    """Say how that compares with the printed numbers."""
    possible = f"{fit.printed}, the differences that the printed numbers allow"
    if fit.equal:
        return f"it lies in {possible}"
    if _complete(run, base):
        if fit.verdict is Verdict.DIFFERS:
            return f"it does not lie in {possible}; all images were evaluated, so it is not a matter of sampling"
        return f"whether it lies in {possible}, depends on the images that could not be read"
    meets = "does not meet" if fit.verdict is Verdict.DIFFERS else "meets"
    met = f"its 95 % interval [{paired.low}, {paired.high}] {meets} {possible}"
    if fit.verdict is not Verdict.UNVERIFIABLE:
        return met
    need = describe_need(size_of_data(run.cell), _stake(run, base))
    return f"{met}, but leaves too much room to pass: {need}"


def _interval_of(paired: PairedAccuracy, images: int, points: Fraction) -> Interval:
    """Return the interval of so many images with this difference; the share right in one run only is as measured."""
    gained = points / 100 * images
    apart = max(Fraction(paired.first_only + paired.second_only, paired.images) * images, abs(gained))
    return paired_difference((apart - gained) / 2, (apart + gained) / 2, images)


def _describe_significance(run: EvaluatedCell, base: EvaluatedCell, paired: PairedAccuracy) -> str:
    """Say whether chance may explain the difference, and whether it has the printed direction."""
    test = f"McNemar's exact test has p = {paired.p}"
    if mcnemar(paired.first_only, paired.second_only) >= LEVEL:
        return f"{test}, so these images do not show which is better"
    measured = paired.second_only - paired.first_only
    printed = run.cell.printed.value - base.cell.printed.value
    better = f"{test}: {_name(run if measured > 0 else base)} is better"
    if printed == 0:
        return f"{better}, but the printed numbers are equal"
    return f"{better}, {'as' if measured * printed > 0 else 'contrary to what'} the paper prints"


def _name(run: EvaluatedCell) -> str:
    return run.cell.row.row.id


def _sign(points: Fraction) -> str:
    return f"{'+' if points > 0 else ''}{readable(points, 3)}"


def _compare_settings(first: Accuracy, second: Accuracy) -> Iterator[str]:
    """Name the settings in which two runs differ."""
    names = [n for n in sorted({*first.settings, *second.settings}) if first.settings.get(n) != second.settings.get(n)]
    values = [f"{n} ({first.settings.get(n, 'not stated')}, {second.settings.get(n, 'not stated')})" for n in names]
    if values:
        yield f"the two runs have different settings: {', '.join(values)}"
