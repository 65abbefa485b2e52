"""The verdict on a printed accuracy by an evaluation of its row's model, and what a sample of images decides. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil, floor

from imlp_audit.checks.judged_under import interval_ends, record_cell
from imlp_audit.errors import UsageError, did_you_mean
from imlp_audit.numbers.interval import EXACT, Interval, decimal_text, readable
from imlp_audit.numbers.printed import Rounding
from imlp_audit.records.check import PASSES, Accuracy, CellCheck, Verdict
from imlp_audit.spec.claim_entries import QuantityKind
from imlp_audit.spec.claims import Conditions, Order, Quantity, Statement, parse_claims
from imlp_audit.spec.columns import AccuracyColumn
from imlp_audit.spec.paper import CellRef, Paper, RowRef

# The 97.5 % quantile of the standard normal distribution, rounded up: 1.95996398454005423552...
Z = Fraction("1.95996398454005423553")
DIGITS = 4  # decimal places of the ends, in percent
_GRID = 100 * 10**DIGITS  # steps from 0 to 100 percent
_PERCENT = Interval(Fraction(0), Fraction(100))
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


@dataclass(frozen=True)
class Stake:
    """A difference, in points, that the paper makes something of: between which two cells it is printed."""

    points: Fraction
    base: CellRef
    variant: CellRef

    def describe(self) -> str:
        """Say what the difference is and where it is printed."""
        texts = f"{self.base.printed.text} to {self.variant.printed.text}"
        return f"{readable(self.points)} points, as from {self.base.row.row.id} to {self.variant.row.row.id} ({texts})"


def find_stake(cell: CellRef) -> Stake | None:
    """Return the smallest difference between two scores like the cell's that the paper makes something of.

    Scores are alike if they have the same metric and data, in whichever table. The paper makes something of the
    difference between a row and its baseline, and of those that a claim is about. None where there is none.
    """
    paper = cell.row.paper
    pairs = [*_from_baselines(paper), *_from_claims(paper)]
    stakes = [
        Stake(abs(variant.printed.value - base.printed.value), base, variant)
        for base, variant in pairs
        if _kind(base) == _kind(variant) == _kind(cell)
    ]
    return min((stake for stake in stakes if stake.points), key=lambda stake: stake.points, default=None)


def _kind(cell: CellRef) -> tuple[str, str] | str:
    """Return what the scores have in common that a cell is compared with."""
    column = cell.column
    return (column.metric, column.data) if isinstance(column, AccuracyColumn) else cell.column_id


def _from_baselines(paper: Paper) -> Iterator[tuple[CellRef, CellRef]]:
    for row in paper.rows:
        for name in row.row.printed:
            base = row.baseline.cell(name) if row.baseline is not None else None
            if base is not None:
                yield base, CellRef(row, name)


def _from_claims(paper: Paper) -> Iterator[tuple[CellRef, CellRef]]:
    for claim in parse_claims(paper, (paper,)):
        for statement in claim.meanings.all if claim.meanings is not None else ():
            yield from _compared(statement)


def _compared(statement: Statement) -> Iterator[tuple[CellRef, CellRef]]:
    """Yield the pairs of printed numbers that a claim compares, the one that it starts from first."""
    quantities: list[Quantity] = []
    if isinstance(statement, Conditions):
        quantities = [one for condition in statement.conditions for one in condition.by_row.values()]
    elif isinstance(statement, Order):
        quantities = [one for _, one in statement.along]
        yield from pairwise(one.cell for one in quantities if one.kind is QuantityKind.VALUE)
    for quantity in quantities:
        if len(quantity.cells) == 2:  # not a position between two others
            own, other = quantity.cells
            yield other, own


@dataclass(frozen=True)
class Sample:
    """A run on some of a data set's images, of which so many are right and so many cannot be read."""

    correct: int
    unreadable: int
    images: int

    @property
    def interval(self) -> Interval:
        """The 95 % interval of the share of right images, in percent."""
        return self._interval(Fraction(self.correct))

    def interval_if(self, share: Fraction) -> Interval:
        """Return the interval of as many images if this share of the readable ones, in percent, were right."""
        return self._interval(share / 100 * (self.images - self.unreadable))

    def _interval(self, correct: Fraction) -> Interval:
        return Interval(wilson(correct, self.images).low, wilson(correct + self.unreadable, self.images).high)

    def decides(self, printed: Interval, points: Fraction) -> bool:
        """Return whether a pass is evidence, because it excludes a difference of so many points, and could have failed.

        It could if as many images, on which another number is right, would miss the printed one.
        """
        others = find_others(printed, points)
        return bool(others) and not any(
            self.interval.meets(other) or self.interval_if((other.low + other.high) / 2).meets(printed)
            for other in others
        )


def find_others(printed: Interval, points: Fraction) -> list[Interval]:
    """Return the shares so many points below and above the printed one.

    Where they are not possible, the last share that is possible takes their place, unless it prints alike.
    """
    others = []
    for way, end in ((-points, _PERCENT.low), (points, _PERCENT.high)):
        moved = printed + Interval.point(way)
        if moved.meets(_PERCENT):
            low, low_closed = max((moved.low, not moved.low_closed), (_PERCENT.low, False))
            high, high_closed = min((moved.high, moved.high_closed), (_PERCENT.high, True))
            others.append(Interval(low, high, not low_closed, high_closed))
        elif end not in printed:
            others.append(Interval.point(end))
    return others


def describe_need(size: int | None, stake: Stake | None) -> str:
    """Say what would decide where a sample does not; `size` is the number of images of the data set."""
    whole = f"all {readable(size)} images of the data set" if size is not None else "the whole data set"
    if stake is None:
        nothing = "the paper makes nothing of a difference between two such scores, so a sample has none to exclude"
        return f"{nothing}; {whole} would decide"
    return f"it does not exclude a difference of {stake.describe()}; {whole} would decide"


def wilson(correct: int | Fraction, images: int) -> Interval:
    """Return Wilson's 95 % score interval in percent for `correct` of `images`; [0, 100] if there are no images.

    The ends are rounded outwards. E. B. Wilson, Probable inference, the law of succession, and statistical inference,
    JASA 22 (1927), 209-212.
    """
    if not images:
        return _PERCENT
    square = Z**2 + 4 * correct * (images - Fraction(correct)) / images
    with localcontext(prec=60):
        half = Z * Fraction((Decimal(square.numerator) / Decimal(square.denominator)).sqrt())
    low, high = ((2 * correct + Z**2 + end) * _GRID / (2 * (images + Z**2)) for end in (-half, half))
    step = Fraction(100, _GRID)
    return Interval(max(floor(low), 0) * step, min(ceil(high), _GRID) * step)


@dataclass(frozen=True)
class ScoreCell:
    """A printed accuracy that an evaluation can judge, with its column."""

    cell: CellRef
    column: AccuracyColumn


@dataclass(frozen=True)
class EvaluatedCell(ScoreCell):
    """A printed accuracy, an evaluation of its row, and the reading that the model was built under."""

    accuracy: Accuracy
    reading: str | None = None

    @cached_property
    def sample(self) -> Sample:
        """The run as a sample."""
        one = self.accuracy
        return Sample(one.correct, one.unreadable, one.images + one.unreadable)

    @property
    def complete(self) -> bool:
        """Whether every image that has a label was evaluated, of the data set that the cell is about."""
        return self.accuracy.whole and self.sample.images == self.column.size

    @property
    def share(self) -> Fraction:
        """The share of right images among those that could be read, in percent."""
        return Fraction(100 * self.accuracy.correct, self.accuracy.images)

    @property
    def possible(self) -> Interval:
        """Where the share over all images lies, whatever the unreadable ones are; by its 95 % interval for a sample."""
        if not self.complete:
            return self.sample.interval
        right, lost, images = self.sample.correct, self.sample.unreadable, self.sample.images
        return Interval(Fraction(100 * right, images), Fraction(100 * (right + lost), images))

    @property
    def departures(self) -> tuple[str, ...]:
        """The reading by name if the row has another model under it than under the paper's default."""
        recipe, readings = self.cell.row.row.model, self.cell.row.paper.about.value.readings
        if recipe is None or self.reading not in readings:
            return ()
        usual, chosen = (recipe.part_of(readings[name].reading()) for name in (next(iter(readings)), self.reading))
        return () if chosen == usual else (f"reading {self.reading}",)

    @property
    def why_not_judged(self) -> str | None:
        """Why nothing can be judged by the evaluation."""
        accuracy, size = self.accuracy, self.column.size
        if accuracy.unreadable > MOST_UNREADABLE * self.sample.images:
            most = decimal_text(100 * MOST_UNREADABLE, 2)
            return (
                f"{readable(accuracy.unreadable)} of {readable(self.sample.images)} images could not be read, more "
                f"than the {most} % up to which an accuracy is judged; repair the data set"
            )
        given = accuracy.available - accuracy.unlabelled - accuracy.unreadable
        if size is not None and given > size:
            return (
                f"{readable(given)} readable images with a label were given, but the data set has {readable(size)}; "
                "give its images alone, or say with --on which data set they are"
            )
        return None if accuracy.images else "no image that has a label was evaluated"


@dataclass(frozen=True)
class SampledFit:
    """How a measured number compares with a printed one: by which rounding rule, under which departures."""

    verdict: Verdict
    rounding: Rounding
    printed: Interval
    under: tuple[str, ...] = ()


def score_cells(row: RowRef, data: str | None) -> tuple[ScoreCell, ...]:
    """Return the cells of a row that an evaluation on a data set judges; without a name, on the row's only data set.

    Raises UsageError listing the data sets of the row.
    """
    columns = ((cell, cell.column) for cell in (CellRef(row, name) for name in row.row.printed))
    scores = [ScoreCell(cell, column) for cell, column in columns if isinstance(column, AccuracyColumn)]
    known = list(dict.fromkeys(score.column.data for score in scores))
    if not known:
        raise UsageError(f"{row.id} prints no number whose column has `metric` and `data`, so nothing can be judged")
    if data is None and len(known) > 1:
        raise UsageError(f"{row.id} prints accuracies on {', '.join(known)}; pass --on to say which one the images are")
    if data is not None and data not in known:
        raise UsageError(f"{row.id} prints no accuracy on {data!r}; {did_you_mean(data, known, 'it has')}")
    return tuple(score for score in scores if data in (None, score.column.data))


def judge(run: EvaluatedCell) -> CellCheck:
    """Judge a printed accuracy.

    `reproduced` means that all images of the data set were evaluated and the share prints as in the paper, however the
    unreadable images would have come out; a share of all images that prints otherwise differs. A sample passes, as
    `reproduced_under` sampling, if it excludes the smallest difference that the paper makes something of and could have
    missed the printed number; else it decides nothing, unless it does miss it.
    """
    cell = run.cell
    known = {"reading": run.reading, "hints": (UNPROVEN,), "evidence": (run.accuracy,)}
    check = record_cell(cell, Verdict.ERROR, run.why_not_judged or "").model_copy(update=known)
    if check.reason:
        return check
    found = {"measured": decimal_text(run.share, EXACT), "gap": decimal_text(cell.printed.gap(run.share), 1)}
    if (runs := cell.printed.runs) is not None:
        return check.model_copy(update={**found, **_compare_with_runs(run, runs)})
    stake = find_stake(cell)
    fit = _compare(run, stake)
    return check.model_copy(
        update={
            **found,
            "verdict": fit.verdict,
            "reason": f"{_describe_counts(run)}; {_describe_fit(run, stake, fit)}",
            "interval": interval_ends(cell.printed, fit.rounding),
            "rounding": fit.rounding,
            "under": fit.under,
            "hints": (*check.hints, *_hints(run, fit)),
        }
    )


def _compare_with_runs(run: EvaluatedCell, runs: Interval) -> Mapping[str, object]:
    """Return what one run says about a printed mean of several."""
    place, text = "inside" if run.share in runs else "outside", run.cell.printed.text
    reason = f"{_describe_counts(run)}, {place} {runs}; one run cannot settle a mean of several, {text}"
    return {
        "verdict": Verdict.UNVERIFIABLE,
        "reason": f"{reason}: it takes the runs that were averaged",
        "interval": (decimal_text(runs.low, EXACT), decimal_text(runs.high, EXACT)),
    }


def _compare(run: EvaluatedCell, stake: Stake | None) -> SampledFit:
    """Compare where the share may lie with the printed number, under each rounding rule; the first is the default."""
    roundings, printed, possible = run.cell.row.paper.about.value.rounding, run.cell.printed.interval, run.possible
    met = [rule for rule in roundings if possible.meets(printed(rule))]
    for rule in met:
        if run.complete:
            passes = possible.low in printed(rule) and possible.high in printed(rule)
        else:
            passes = stake is not None and run.sample.decides(printed(rule), stake.points)
        if passes:
            rounded = [f"rounding {rule}"] if rule is not roundings[0] else []
            under = (*run.departures, *rounded, *([] if run.complete else [SAMPLING]))
            verdict = Verdict.REPRODUCED_UNDER if under else Verdict.REPRODUCED
            return SampledFit(verdict, rule, printed(rule), under)
    verdict, rule = (Verdict.UNVERIFIABLE, met[0]) if met else (Verdict.DIFFERS, roundings[0])
    return SampledFit(verdict, rule, printed(rule))


def _hints(run: EvaluatedCell, fit: SampledFit) -> Iterator[str]:
    """Yield what a verdict assumes, and what else may explain one that fails."""
    if run.column.size is not None and run.accuracy.available - run.accuracy.unlabelled < run.column.size:
        yield PART
    if fit.verdict is Verdict.DIFFERS:
        yield SETTINGS


def _describe_counts(run: EvaluatedCell) -> str:
    """Say how many images were classified correctly, and out of which."""
    accuracy, complete, size = run.accuracy, run.complete, run.column.size
    guess = {"top1": "with the first guess", "top5": "among the first five guesses"}[accuracy.metric]
    all_ = "all " if complete and not accuracy.unreadable and not accuracy.unlabelled else ""
    labelled = " with a label" if accuracy.unlabelled else ""
    unknown = f"{readable(accuracy.available)} were given; how many the data set has, its column does not say (images:)"
    rest = [] if complete else [f"the data set has {readable(size)}{labelled}" if size is not None else unknown]
    rest += [f"{readable(accuracy.unreadable)} could not be read"] if accuracy.unreadable else []
    rest += [f"{readable(accuracy.unlabelled)} without a label are not judged"] if accuracy.unlabelled else []
    more = f" ({', '.join(rest)})" if rest else ""
    return (
        f"the checkpoint classifies {readable(accuracy.correct)} of {all_}{readable(accuracy.images)} images correctly "
        f"{guess}{more}, {readable(run.share, 3)} %"
    )


def _describe_fit(run: EvaluatedCell, stake: Stake | None, fit: SampledFit) -> str:
    """Say how the share compares with the printed number, for a reader who has only the paper."""
    text, printed, share = run.cell.printed.text, fit.printed, run.share
    meant = f"{text}, which stands for {printed}"
    if fit.verdict in PASSES and SAMPLING not in fit.under:
        return f"that prints as {meant}"
    interval = f"the 95 % interval [{run.accuracy.low}, {run.accuracy.high}]"
    if fit.verdict is Verdict.DIFFERS:
        side = "above" if share > run.cell.printed.value else "below"
        units = decimal_text(abs(run.cell.printed.gap(share)), 1)
        off = f"that is {units} units of the last digit {side} the printed {text}"
        if run.complete:
            return f"{off}, which stands for {printed}; all images were evaluated, so it is not a matter of sampling"
        return f"{off}, and {interval} does not meet {printed}: more than sampling explains"
    if run.complete:
        return f"whether that prints as {meant}, depends on the images that could not be read"
    equal = f"equal to {text} as printed, which may be luck" if share in printed else f"not {text} as printed"
    met = f"that is {equal}, since not all images were evaluated; {interval} meets {printed}"
    if fit.verdict is Verdict.UNVERIFIABLE:
        return f"{met}, but leaves too much room to pass: {describe_need(run.column.size, stake)}"
    besides = f" and excludes a difference of {stake.describe()}" if stake is not None else ""
    return f"{met}{besides}"
