"""A number that images were sampled for against a printed one: equal as printed, within sampling error, or neither."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from imlp_audit.numbers.interval import Interval
from imlp_audit.numbers.printed import Rounding
from imlp_audit.records.check import Verdict
from imlp_audit.spec.references import CellRef

SAMPLING = "sampling"


@dataclass(frozen=True)
class Fit:
    """How a number goes with a printed one: by which rounding rule, under what, and what that one stands for then."""

    verdict: Verdict
    rounding: Rounding
    printed: Interval
    under: tuple[str, ...] = ()

    @property
    def equal(self) -> bool:
        """Whether it is equal as printed."""
        return self.verdict is not Verdict.DIFFERS and SAMPLING not in self.under


def fit(
    printed: Callable[[Rounding], Interval],
    roundings: Sequence[Rounding],
    whole: Interval | None,
    sampled: Interval,
    readings: tuple[str, ...] = (),
) -> Fit:
    """Hold a number against a printed one; of the rounding rules the first is the default, the rest are declared.

    `whole` is where the number lies if all images of the data set were looked at, `sampled` its 95 % interval;
    `readings` name what departs from the default already.
    """
    for rule in roundings:
        if whole is not None and whole.low in printed(rule) and whole.high in printed(rule):
            under = (*readings, *_departure(rule, roundings[0]))
            verdict = Verdict.REPRODUCED_UNDER if under else Verdict.REPRODUCED
            return Fit(verdict, rule, printed(rule), under)
    for rule in roundings:
        if sampled.meets(printed(rule)):
            under = (*readings, *_departure(rule, roundings[0]), SAMPLING)
            return Fit(Verdict.REPRODUCED_UNDER, rule, printed(rule), under)
    return Fit(Verdict.DIFFERS, roundings[0], printed(roundings[0]))


def _departure(rule: Rounding, usual: Rounding) -> tuple[str, ...]:
    return () if rule is usual else (f"rounding {rule}",)


def reading_departs(cell: CellRef, reading: str | None) -> tuple[str, ...]:
    """Name the reading where it gives the cell's row another model than the paper's default one does."""
    recipe, readings = cell.row.row.model, cell.row.paper.about.value.readings
    if recipe is None or reading not in readings:
        return ()
    usual, chosen = (recipe.part_of(readings[name].reading()) for name in (next(iter(readings)), reading))
    return () if chosen == usual else (f"reading {reading}",)
