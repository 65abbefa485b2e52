"""A printed number against what was measured: the verdict. Pure, and without a framework."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from operator import ne

from imlp_audit.numbers.interval import EXACT, decimal_text, readable
from imlp_audit.numbers.printed import LIKELY, Printed, Rounding
from imlp_audit.records.check import AnyHint, Measurement, OptionHint, Verdict

_LARGE = 1000  # a printed number without a scale is a total from here on


@dataclass(frozen=True)
class Measured:
    """One measurement of what a cell prints, in base units, and how it was made.

    `uncounted` names operations that no formula covers; their work is missing from the value.
    """

    value: Fraction
    reading: str | None = None
    convention: str | None = None
    uncounted: tuple[str, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """A verdict, the measurement and rounding rule that decide it, and how these depart from the default."""

    verdict: Verdict
    reason: str
    deciding: Measured
    rounding: Rounding
    also: tuple[Measurement, ...]
    under: tuple[str, ...] = ()
    hints: tuple[AnyHint, ...] = ()


@dataclass(frozen=True)
class Ways:
    """The ways to measure and to round a number that it may be judged by.

    Of `declared` measurements and of `rules` the first is the default. Only what the paper's hypothesis leaves can make
    the number pass: the `allowed` measurements, the best supported first, and `roundings`. The rest is tried for hints,
    as are `undeclared` measurements. `default` names the default reading and convention where nothing was measured
    under them; `support` says of a declared option how many of the paper's numbers follow under it, and `elsewhere` are
    conventions that the spec has for other numbers.
    """

    declared: Sequence[Measured]
    allowed: Sequence[Measured]
    roundings: Sequence[Rounding]
    rules: Sequence[Rounding]
    undeclared: Sequence[Measured] = ()
    default: Measured | None = None
    support: Mapping[tuple[str, str], str] = field(default_factory=dict)
    elsewhere: Collection[str | None] = ()


def compare(
    printed: Printed, ways: Ways, *, unit: str = "", count_lost: Callable[[OptionHint], int] = lambda _: 0
) -> Comparison:
    """Judge a printed number; `unit` is what the reason names behind the values.

    A value that leaves out uncounted work is no evidence either way. `count_lost` says how many numbers what a hint has
    and the spec has not would lose.
    """
    declared, usual = ways.declared, ways.roundings[0]
    ordinary = (ways.default or declared[0], ways.rules[0])
    fits = ((one, rule) for rule in ways.roundings for one in fitting(printed, ways.allowed, [rule]))
    found = next(fits, None)  # with the fewest departures from the default rounding
    if found is not None:
        one, rounding = _least_departing(found[0], declared, ordinary[0]), found[1]
        under = _name(_departures((one, rounding), ordinary))
        verdict = Verdict.REPRODUCED_UNDER if under else Verdict.REPRODUCED
        named = f" under {', '.join(under)}" if under else ""
        reason = f"{readable(one.value)}{unit} lies in {printed.interval(rounding)}{unit}{named}"
        return Comparison(verdict, reason, one, rounding, _also(printed, declared, one, usual), under)
    unsure = next((m for m in ways.allowed if m.uncounted), None)
    if unsure is not None:
        reason = f"no formula counts {', '.join(unsure.uncounted)}, so the measured value leaves out work"
        return Comparison(Verdict.UNVERIFIABLE, reason, unsure, usual, _also(printed, declared, unsure, usual))
    one = ways.allowed[0]
    hints = _smallest((*_alone_ways(printed, ways), *_undeclared_ways(printed, ways)))
    return Comparison(
        Verdict.DIFFERS,
        _miss(printed, one, usual, unit),
        one,
        usual,
        _also(printed, declared, one, usual),
        hints=tuple(way.model_copy(update={"lost": count_lost(way)}) for way in hints),
    )


def fitting(printed: Printed, measured: Iterable[Measured], rules: Iterable[Rounding]) -> list[Measured]:
    """Return the measurements that print as a number does, by some rule; one that leaves out work is no evidence."""
    intervals = [printed.interval(rule) for rule in rules]
    return [m for m in measured if not m.uncounted and any(m.value in interval for interval in intervals)]


def name_departures_of(one: Measured, declared: Sequence[Measured]) -> tuple[str, ...]:
    """Name how a measurement departs from the default; an option that does not change the value does not depart."""
    chosen = _least_departing(one, declared, declared[0])
    rounding = Rounding.HALF_UP  # the same in both: only readings and conventions are compared
    return _name(_departures((chosen, rounding), (declared[0], rounding)))


def _least_departing(one: Measured, declared: Sequence[Measured], default: Measured) -> Measured:
    """Return a measurement by the first names that give its value: an option departs only if it changes the value."""
    same = (other for other in declared if other.value == one.value and not other.uncounted)
    names = default.reading, default.convention
    return min(same, key=lambda other: sum(map(ne, (other.reading, other.convention), names)))


def _departures(chosen: tuple[Measured, Rounding], default: tuple[Measured, Rounding]) -> dict[str, str]:
    (one, rounding), (usual, usual_rounding) = chosen, default
    ways = {
        "reading": (one.reading, usual.reading),
        "convention": (one.convention, usual.convention),
        "rounding": (rounding, usual_rounding),
    }
    return {kind: str(name) for kind, (name, ordinary) in ways.items() if name != ordinary}


def _name(departures: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"{kind} {name}" for kind, name in departures.items())


def _miss(printed: Printed, one: Measured, rounding: Rounding, unit: str) -> str:
    gap = printed.gap(one.value)
    side = "above" if gap > 0 else "below"
    distance = decimal_text(abs(gap), 1)
    units = "unit" if distance == "1" else "units"
    off = f"{distance} {units} of the last printed digit {side} {printed.text}{_share(printed, gap)}"
    return f"{readable(one.value)}{unit} is outside {printed.interval(rounding)}{unit}: {off}"


def _share(printed: Printed, gap: Fraction) -> str:
    """Write a gap in percent of the printed number, if that is a total: of a percentage it would confuse."""
    if not printed.value or (printed.scale == 1 and abs(printed.value) < _LARGE):
        return ""
    percent = abs(100 * gap * printed.step / printed.value)
    text = decimal_text(percent, 1 if percent >= 1 else 2)
    return f" ({text} %)" if text != "0" else ""


def _smallest(ways: Iterable[OptionHint]) -> list[OptionHint]:
    """Return the smallest changes: one for each choice that is not declared, and two such only where no one will do."""
    kept: list[OptionHint] = []
    for way in sorted(ways, key=lambda one: (len(one.missing), len(one.options))):
        apart = (
            len(way.missing) <= max(1, len(one.missing))
            and not one.options.items() <= way.options.items()
            and not (one.missing and one.undeclared == way.undeclared)
            for one in kept
        )
        if all(apart):
            kept.append(way)
    return kept


def _alone_ways(printed: Printed, ways: Ways) -> Iterator[OptionHint]:
    """Yield declared options that would fit this number alone, with how many of the paper's numbers each explains."""
    judged, left = (ways.allowed[0], ways.roundings[0]), set(product(ways.allowed, ways.roundings))
    for one, rule in product(ways.declared, ways.rules):
        if (one, rule) in left or rule is Rounding.CEILING or one.uncounted:
            continue
        if one.value in printed.interval(rule):
            departures = _departures((one, rule), judged)
            support = "; ".join(filter(None, map(ways.support.get, departures.items())))
            yield OptionHint(value=decimal_text(one.value, EXACT), support=support, **departures)


def _undeclared_ways(printed: Printed, ways: Ways) -> Iterator[OptionHint]:
    """Yield which undeclared rule or convention would fit: a hint, never a pass. Rounding up would excuse too much."""
    usual, usual_rule = ways.allowed[0], ways.roundings[0]
    known = set(product(ways.allowed, ways.rules))
    values = {(usual.value, usual.convention)}
    for one in (*ways.allowed, *ways.undeclared):
        if one.uncounted or ((one.value, one.convention) in values and one is not usual):
            continue
        values.add((one.value, one.convention))
        rules = [rule for rule in LIKELY if (one, rule) not in known and one.value in printed.interval(rule)]
        for rule in [usual_rule] if usual_rule in rules else rules:
            departures = _departures((one, rule), (usual, usual_rule))
            stated = {"rounding": rule in ways.rules}
            missing = tuple(kind for kind in departures if not stated.get(kind, one in ways.allowed))
            elsewhere = departures.get("convention") in ways.elsewhere
            value = decimal_text(one.value, EXACT)
            yield OptionHint(value=value, missing=missing, elsewhere=elsewhere, **departures)


def _also(
    printed: Printed, declared: Sequence[Measured], deciding: Measured, rounding: Rounding
) -> tuple[Measurement, ...]:
    """Record the other measurements with what each alone would say under the default rounding."""
    interval = printed.interval(rounding)

    def judge_alone(one: Measured) -> Verdict:
        if one.uncounted:
            return Verdict.UNVERIFIABLE
        return Verdict.REPRODUCED if one.value in interval else Verdict.DIFFERS

    return tuple(
        Measurement(
            reading=one.reading,
            convention=one.convention,
            measured=decimal_text(one.value, EXACT),
            verdict=judge_alone(one),
        )
        for one in declared
        if one != deciding
    )
