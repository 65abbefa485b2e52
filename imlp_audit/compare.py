"""A printed number against what was measured: the verdict. Pure, and without a framework."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from imlp_audit.interval import decimal_text
from imlp_audit.printed import Printed, Rounding
from imlp_audit.result import Measurement, Verdict


@dataclass(frozen=True)
class Measured:
    """One measurement of what a cell prints, in base units, and how it came about.

    `uncounted` names operations that no formula covers; their work is missing from the value.
    """

    value: Fraction
    reading: str | None = None
    convention: str | None = None
    uncounted: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """A verdict with the measurement and the rounding rule that decide it."""

    verdict: Verdict
    reason: str
    deciding: Measured
    rounding: Rounding
    also: tuple[Measurement, ...]
    hints: tuple[str, ...] = ()


def compare(
    printed: Printed,
    declared: Sequence[Measured],
    roundings: Sequence[Rounding],
    undeclared: Sequence[Measured] = (),
) -> Outcome:
    """Judge a printed number; of measurements and rounding rules the first is the default, the rest are declared.

    `undeclared` measurements and rounding rules are tried for hints alone. A value that leaves out
    uncounted work is no evidence either way.
    """
    default, rounding = declared[0], roundings[0]
    fitting = next(_fits(printed, [m for m in declared if not m.uncounted], roundings), None)
    if fitting is not None:
        deciding, rounding = fitting
        verdict, reason = _success(printed, deciding, rounding, is_default=fitting == (default, roundings[0]))
        hints: tuple[str, ...] = ()
    elif any(m.uncounted for m in declared):
        deciding = next(m for m in declared if m.uncounted)
        names = ", ".join(deciding.uncounted)
        verdict, hints = Verdict.UNVERIFIABLE, ()
        reason = f"no formula counts {names}, so the measured value leaves out work"
    else:
        deciding = default
        verdict, reason = Verdict.DIFFERS, _miss(printed, default, rounding)
        hints = tuple(_hints(printed, declared, roundings, undeclared))
    return Outcome(verdict, reason, deciding, rounding, _also(printed, declared, deciding, roundings[0]), hints)


def _fits(
    printed: Printed, measured: Sequence[Measured], roundings: Sequence[Rounding]
) -> Iterator[tuple[Measured, Rounding]]:
    """Yield the combinations that hold, fewest departures from the default rounding first."""
    for rounding in roundings:
        interval = printed.interval(rounding)
        yield from ((one, rounding) for one in measured if one.value in interval)


def _success(printed: Printed, one: Measured, rounding: Rounding, *, is_default: bool) -> tuple[Verdict, str]:
    inside = f"{decimal_text(one.value)} lies in {printed.interval(rounding)}"
    if is_default:
        return Verdict.REPRODUCED, inside
    return Verdict.REPRODUCED_UNDER, f"{inside} under {_named(one, rounding)}"


def _named(one: Measured, rounding: Rounding) -> str:
    parts = [f"reading {one.reading!r}" if one.reading else "", f"convention {one.convention!r}" if one.convention else ""]
    return ", ".join(part for part in (*parts, f"rounding {rounding.value!r}") if part)


def _miss(printed: Printed, one: Measured, rounding: Rounding) -> str:
    gap = decimal_text(printed.gap(one.value), 1)
    return f"{decimal_text(one.value)} is outside {printed.interval(rounding)}: {gap} in units of the last printed digit"


def _hints(
    printed: Printed, declared: Sequence[Measured], roundings: Sequence[Rounding], undeclared: Sequence[Measured]
) -> Iterator[str]:
    """Say which undeclared rule or convention would fit: a lead for the reader, never a pass."""
    tried = [(one, rule) for one in (*declared, *undeclared) if not one.uncounted for rule in Rounding]
    known = {(id(one), rule) for one in declared for rule in roundings}
    for one, rule in tried:
        if (id(one), rule) not in known and one.value in printed.interval(rule):
            yield f"{decimal_text(one.value)} would fit under {_named(one, rule)}, which the spec does not declare"


def _also(
    printed: Printed, declared: Sequence[Measured], deciding: Measured, rounding: Rounding
) -> tuple[Measurement, ...]:
    """Record the other measurements with what each alone would say under the default rounding."""
    interval = printed.interval(rounding)
    return tuple(
        Measurement(
            reading=one.reading,
            convention=one.convention,
            measured=decimal_text(one.value),
            verdict=_alone(one, one.value in interval),
        )
        for one in declared
        if one is not deciding
    )


def _alone(one: Measured, inside: bool) -> Verdict:
    if one.uncounted:
        return Verdict.UNVERIFIABLE
    return Verdict.REPRODUCED if inside else Verdict.DIFFERS
