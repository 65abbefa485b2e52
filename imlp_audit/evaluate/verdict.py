"""The verdict on a printed accuracy, from an evaluation of a checkpoint of its row's model. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from imlp_audit.checks.frames import interval_ends
from imlp_audit.errors import UsageError, did_you_mean
from imlp_audit.evaluate.images import data_digest
from imlp_audit.evaluate.sampling import DIGITS, Sample, Stake, describe_need, find_stake, wilson
from imlp_audit.numbers.interval import EXACT, Interval, decimal_text, readable
from imlp_audit.numbers.printed import Rounding
from imlp_audit.records.check import PASSES, CellCheck, Verdict
from imlp_audit.records.evidence import Accuracy
from imlp_audit.spec.columns import AccuracyColumn, Metric
from imlp_audit.spec.paper import CellRef, RowRef

MOST_UNREADABLE = Fraction(1, 1000)  # of the images: above it nothing is judged
SAMPLING = "sampling"
UNPROVEN = (
    "an evaluation shows what the given file does, not that it is the file behind the printed number; "
    "the evidence has its SHA-256"
)
SETTINGS = (
    "the evidence lists the preprocessing and the precision of this run; if the paper states others, evaluate with "
    "them (--preprocessing)"
)
PART = "only a part of the data set was given; it is taken as drawn at random"
PERCENT = Interval(Fraction(0), Fraction(100))


@dataclass(frozen=True)
class ScoreCell:
    """A printed accuracy that an evaluation can judge, with its metric and its data set."""

    cell: CellRef
    metric: Metric
    data: str


@dataclass(frozen=True)
class SampledFit:
    """How a measured number compares with a printed one: by which rounding rule, under which departures."""

    verdict: Verdict
    rounding: Rounding
    printed: Interval
    under: tuple[str, ...] = ()

    @property
    def equal(self) -> bool:
        """Whether the number is equal as printed."""
        return self.verdict in PASSES and SAMPLING not in self.under


def score_cells(row: RowRef, data: str | None) -> tuple[ScoreCell, ...]:
    """Return the cells of a row that an evaluation on a data set judges; without a name, on the row's only data set.

    Raises UsageError listing the data sets of the row.
    """
    scores = [score for name in row.row.printed if (score := _score_cell(CellRef(row, name))) is not None]
    known = list(dict.fromkeys(score.data for score in scores))
    if not known:
        raise UsageError(f"{row.id} prints no number whose column has `metric` and `data`, so nothing can be judged")
    if data is None and len(known) > 1:
        raise UsageError(f"{row.id} prints accuracies on {', '.join(known)}; pass --on to say which one the images are")
    if data is not None and data not in known:
        raise UsageError(f"{row.id} prints no accuracy on {data!r}; {did_you_mean(data, known, 'it has')}")
    return tuple(score for score in scores if data in (None, score.data))


def _score_cell(cell: CellRef) -> ScoreCell | None:
    column = cell.column
    return ScoreCell(cell, column.metric, column.data) if isinstance(column, AccuracyColumn) else None


def judge(cell: CellRef, accuracy: Accuracy, reading: str | None = None) -> CellCheck:
    """Judge a printed accuracy by an evaluation of its row's model, built under a reading of the paper.

    `reproduced` means that all images of the data set were evaluated and the share prints as in the paper, however the
    unreadable images would have come out; a share of all images that prints otherwise differs. A sample passes, as
    `reproduced_under` sampling, if it excludes the smallest difference that the paper makes something of and could have
    missed the printed number; else it decides nothing, unless it does miss it.
    """
    check = CellCheck(
        id=cell.id,
        verdict=Verdict.ERROR,
        reason=why_not_judged(accuracy, size_of_data(cell)) or "",
        source=cell.row.table.source("rows", cell.row.index, "printed", cell.column_id),
        place=cell.place,
        printed=cell.printed.text,
        unit=cell.unit,
        reading=reading,
        hints=(UNPROVEN,),
        evidence=(accuracy,),
    )
    if check.reason:
        return check
    stake, sample = find_stake(cell), _sample(accuracy, cell)
    if (runs := cell.printed.runs) is not None:
        place = "inside" if sample.measured in runs else "outside"
        reason = f"{_describe_counts(cell, accuracy)}, {place} {runs}; one run cannot settle a mean of several, "
        return check.model_copy(
            update={
                "verdict": Verdict.UNVERIFIABLE,
                "reason": f"{reason}{cell.printed.text}: it takes the runs that were averaged",
                "interval": (decimal_text(runs.low, EXACT), decimal_text(runs.high, EXACT)),
                "measured": decimal_text(sample.measured, EXACT),
                "gap": decimal_text(cell.printed.gap(sample.measured), 1),
            }
        )
    fit = compare_sampled(
        cell.printed.interval,
        cell.row.paper.about.value.rounding,
        _share_of_all(accuracy, cell) or sample,
        stake.points if stake is not None else None,
        departing_reading(cell, reading),
    )
    share = sample.measured
    return check.model_copy(
        update={
            "verdict": fit.verdict,
            "reason": f"{_describe_counts(cell, accuracy)}; {_describe_fit(cell, accuracy, sample, stake, fit)}",
            "interval": interval_ends(cell.printed, fit.rounding),
            "measured": decimal_text(share, EXACT),
            "gap": decimal_text(cell.printed.gap(share), 1),
            "rounding": fit.rounding,
            "under": fit.under,
            "hints": (*check.hints, *_hints(accuracy, cell, fit)),
        }
    )


def record_accuracy(
    metric: Metric,
    right: Sequence[bool],
    images: Sequence[tuple[str, tuple[int, ...]]],
    *,
    available: int,
    unreadable: int,
    unlabelled: int,
    checkpoint: str,
    settings: Mapping[str, str],
    contents: str | None = None,
) -> Accuracy:
    """Return the record of an evaluation.

    `images` are the ids and accepted classes of the images that could be read and have a label, in the data set's
    order; `right` says for each whether it was classified correctly. `checkpoint` and `contents` are SHA-256.
    """
    evaluated = len(right) + unreadable
    return Accuracy(
        metric=metric,
        correct=sum(right),
        images=len(right),
        available=available,
        unreadable=unreadable,
        unlabelled=unlabelled,
        low=decimal_text(wilson(sum(right), evaluated).low, DIGITS),
        high=decimal_text(wilson(sum(right) + unreadable, evaluated).high, DIGITS),
        outcomes="".join(_hexadecimal(right)),
        checkpoint=checkpoint,
        data=data_digest(images),
        contents=contents,
        settings=dict(settings),
    )


def _hexadecimal(right: Sequence[bool]) -> Iterator[str]:
    """Yield a digit for each four images, the first image in the highest bit."""
    for start in range(0, len(right), 4):
        bits = "".join("1" if one else "0" for one in right[start : start + 4])
        yield f"{int(bits.ljust(4, '0'), 2):x}"


def why_not_judged(accuracy: Accuracy, size: int | None) -> str | None:
    """Return why nothing can be judged by an evaluation; `size` is how many images with a label the data set has."""
    evaluated = accuracy.images + accuracy.unreadable
    if accuracy.unreadable > MOST_UNREADABLE * evaluated:
        most = decimal_text(100 * MOST_UNREADABLE, 2)
        return (
            f"{readable(accuracy.unreadable)} of {readable(evaluated)} images could not be read, more than the {most} "
            "% up to which an accuracy is judged; repair the data set"
        )
    if size is not None and (given := accuracy.available - accuracy.unlabelled - accuracy.unreadable) > size:
        return (
            f"{readable(given)} readable images with a label were given, but the data set has {readable(size)}; "
            "give its images alone, or say with --on which data set they are"
        )
    return None if accuracy.images else "no image that has a label was evaluated"


def compare_sampled(
    printed: Callable[[Rounding], Interval],
    roundings: Sequence[Rounding],
    measured: Interval | Sample,
    stake: Fraction | None,
    readings: tuple[str, ...] = (),
) -> SampledFit:
    """Compare a number measured on images with a printed one, under each rounding rule; the first is the default.

    `measured` is a sample or, if all images of the data set were evaluated, where the number lies; `stake` is the
    difference in points that a sample has to exclude, None if there is none that it could; `readings` are departures
    from the default that already apply.
    """
    interval = measured.interval if isinstance(measured, Sample) else measured
    met = [rule for rule in roundings if interval.meets(printed(rule))]
    for rule in met:
        under = (*readings, *_departure(rule, roundings[0]))
        if isinstance(measured, Sample):
            if stake is not None and measured.decides(printed(rule), stake):
                return SampledFit(Verdict.REPRODUCED_UNDER, rule, printed(rule), (*under, SAMPLING))
        elif measured.low in printed(rule) and measured.high in printed(rule):
            verdict = Verdict.REPRODUCED_UNDER if under else Verdict.REPRODUCED
            return SampledFit(verdict, rule, printed(rule), under)
    verdict, rule = (Verdict.UNVERIFIABLE, met[0]) if met else (Verdict.DIFFERS, roundings[0])
    return SampledFit(verdict, rule, printed(rule))


def departing_reading(cell: CellRef, reading: str | None) -> tuple[str, ...]:
    """Return the reading by name if the cell's row has another model under it than under the paper's default."""
    recipe, readings = cell.row.row.model, cell.row.paper.about.value.readings
    if recipe is None or reading not in readings:
        return ()
    usual, chosen = (recipe.part_of(readings[name].reading()) for name in (next(iter(readings)), reading))
    return () if chosen == usual else (f"reading {reading}",)


def _departure(rule: Rounding, usual: Rounding) -> tuple[str, ...]:
    return () if rule is usual else (f"rounding {rule}",)


def is_complete(accuracy: Accuracy, cell: CellRef) -> bool:
    """Return whether every image that has a label was evaluated, of the data set that a cell is about."""
    return accuracy.whole and accuracy.images + accuracy.unreadable == size_of_data(cell)


def size_of_data(cell: CellRef) -> int | None:
    """Return how many images with a label the data set of a cell has; None where nothing says so."""
    return cell.column.size if isinstance(cell.column, AccuracyColumn) else None


def _sample(accuracy: Accuracy, cell: CellRef) -> Sample:
    """Return a run as a sample; among other numbers of images, the same share could not be read."""
    evaluated = accuracy.images + accuracy.unreadable

    def interval_of(value: Fraction, images: int) -> Interval:
        lost = Fraction(images * accuracy.unreadable, evaluated)
        right = value / 100 * (images - lost)
        return Interval(wilson(right, images).low, wilson(right + lost, images).high)

    share = Fraction(100 * accuracy.correct, accuracy.images)
    interval = Interval(Fraction(accuracy.low), Fraction(accuracy.high))
    return Sample(evaluated, share, interval, interval_of, PERCENT)


def _hints(accuracy: Accuracy, cell: CellRef, fit: SampledFit) -> Iterator[str]:
    """Yield what a verdict assumes, and what else may explain one that fails."""
    size = size_of_data(cell)
    if size is not None and accuracy.available - accuracy.unlabelled < size:
        yield PART
    if fit.verdict is Verdict.DIFFERS:
        yield SETTINGS


def _share_of_all(accuracy: Accuracy, cell: CellRef) -> Interval | None:
    """Return where the share over all images of the data set lies, in percent; None if some were not evaluated."""
    if not is_complete(accuracy, cell):
        return None
    evaluated = accuracy.images + accuracy.unreadable
    return Interval(
        Fraction(100 * accuracy.correct, evaluated), Fraction(100 * (accuracy.correct + accuracy.unreadable), evaluated)
    )


def _describe_counts(cell: CellRef, accuracy: Accuracy) -> str:
    """Say how many images were classified correctly, and out of which."""
    guess = {"top1": "with the first guess", "top5": "among the first five guesses"}[accuracy.metric]
    complete, size = is_complete(accuracy, cell), size_of_data(cell)
    all_ = "all " if complete and not accuracy.unreadable and not accuracy.unlabelled else ""
    labelled = " with a label" if accuracy.unlabelled else ""
    unknown = f"{readable(accuracy.available)} were given; how many the data set has, its column does not say (images:)"
    rest = [] if complete else [f"the data set has {readable(size)}{labelled}" if size is not None else unknown]
    rest += [f"{readable(accuracy.unreadable)} could not be read"] if accuracy.unreadable else []
    rest += [f"{readable(accuracy.unlabelled)} without a label are not judged"] if accuracy.unlabelled else []
    more = f" ({', '.join(rest)})" if rest else ""
    share = readable(Fraction(100 * accuracy.correct, accuracy.images), 3)
    return (
        f"the checkpoint classifies {readable(accuracy.correct)} of {all_}{readable(accuracy.images)} images correctly "
        f"{guess}{more}, {share} %"
    )


def _describe_fit(cell: CellRef, accuracy: Accuracy, sample: Sample, stake: Stake | None, fit: SampledFit) -> str:
    """Say how the share compares with the printed number, for a reader who has only the paper."""
    text, printed, share = cell.printed.text, fit.printed, sample.measured
    if fit.equal:
        return f"that prints as {text}, which stands for {printed}"
    complete, interval = is_complete(accuracy, cell), f"the 95 % interval [{accuracy.low}, {accuracy.high}]"
    if fit.verdict is Verdict.DIFFERS:
        side = "above" if share > cell.printed.value else "below"
        off = (
            f"that is {decimal_text(abs(cell.printed.gap(share)), 1)} units of the last digit {side} the printed {text}"
        )
        if complete:
            return f"{off}, which stands for {printed}; all images were evaluated, so it is not a matter of sampling"
        return f"{off}, and {interval} does not meet {printed}: more than sampling explains"
    if complete:
        return (
            f"whether that prints as {text}, which stands for {printed}, depends on the images that could not be read"
        )
    equal = f"equal to {text} as printed, which may be luck" if share in printed else f"not {text} as printed"
    met = f"that is {equal}, since not all images were evaluated; {interval} meets {printed}"
    if fit.verdict is Verdict.UNVERIFIABLE:
        return f"{met}, but leaves too much room to pass: {describe_need(size_of_data(cell), stake)}"
    besides = f" and excludes a difference of {stake.describe()}" if stake is not None else ""
    return f"{met}{besides}"
