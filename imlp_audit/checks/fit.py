"""A printed number against what was measured: the verdict. Pure, and without a framework."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

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


def compare(
    printed: Printed,
    declared: Sequence[Measured],
    roundings: Sequence[Rounding],
    undeclared: Sequence[Measured] = (),
    *,
    allowed: Sequence[Measured] | None = None,
    rules: Sequence[Rounding] = (),
    default: Measured | None = None,
    unit: str = "",
    support: Mapping[tuple[str, str], str] | None = None,
    elsewhere: Collection[str | None] = (),
    count_lost: Callable[[OptionHint], int] = lambda _: 0,
) -> Comparison:
    """Judge a printed number; the first measurement and the first rounding rule are the default, the rest are declared.

    Only measurements that the paper's hypothesis allows can make the number pass: `allowed`, the best supported first;
    if it is left out, all. `rules` are all rounding rules that the paper declares, where its hypothesis leaves some;
    `default` names the default reading and convention where nothing was measured under them, and `unit` what the reason
    is to name behind the values. Other declared measurements and rules, and `undeclared` ones, are tried for hints;
    `support` says of a declared option how many of the paper's numbers follow under it, `elsewhere` are conventions
    that the spec has for other numbers, and `count_lost` how many numbers undeclared ones would lose. A value that
    leaves out uncounted work is no evidence either way.
    """
    rules = rules or roundings
    ordinary = (default or declared[0], rules[0])
    allowed = declared if allowed is None else allowed
    fitting = next(_fits(printed, [m for m in allowed if not m.uncounted], roundings), None)
    if fitting is not None:
        one, rounding = _least_departing(fitting, declared, ordinary[0])
        under = _name(_departures((one, rounding), ordinary))
        verdict = Verdict.REPRODUCED_UNDER if under else Verdict.REPRODUCED
        named = f" under {', '.join(under)}" if under else ""
        reason = f"{readable(one.value)}{unit} lies in {printed.interval(rounding)}{unit}{named}"
        return Comparison(verdict, reason, one, rounding, _also(printed, declared, one, roundings[0]), under)
    unsure = next((m for m in allowed if m.uncounted), None)
    if unsure is not None:
        reason = f"no formula counts {', '.join(unsure.uncounted)}, so the measured value leaves out work"
        also = _also(printed, declared, unsure, roundings[0])
        return Comparison(Verdict.UNVERIFIABLE, reason, unsure, roundings[0], also)
    one, rounding = (allowed[0], roundings[0])
    left = {(m, rule) for m in allowed for rule in roundings}
    others = [(m, rule) for m in declared for rule in rules if (m, rule) not in left]
    judged = (one, rounding)
    alone = _alone_ways(printed, others, judged, support or {})
    undeclared_ways = _undeclared_ways(printed, allowed, rules, undeclared, judged)
    ways = (*alone, *(way.model_copy(update={"elsewhere": way.convention in elsewhere}) for way in undeclared_ways))
    return Comparison(
        Verdict.DIFFERS,
        _miss(printed, one, rounding, unit),
        one,
        rounding,
        _also(printed, declared, one, rounding),
        hints=tuple(way.model_copy(update={"lost": count_lost(way)}) for way in _smallest(ways)),
    )


def name_departures_of(one: Measured, declared: Sequence[Measured]) -> tuple[str, ...]:
    """Name how a measurement departs from the default; an option that does not change the value does not depart."""
    rounding = Rounding.HALF_UP  # the same in both: only readings and conventions are compared
    chosen, _ = _least_departing((one, rounding), declared, declared[0])
    return _name(_departures((chosen, rounding), (declared[0], rounding)))


def _fits(
    printed: Printed, measured: Sequence[Measured], roundings: Sequence[Rounding]
) -> Iterator[tuple[Measured, Rounding]]:
    """Yield the combinations that hold, fewest departures from the default rounding first."""
    for rounding in roundings:
        interval = printed.interval(rounding)
        yield from ((one, rounding) for one in measured if one.value in interval)


def _least_departing(
    fitting: tuple[Measured, Rounding], declared: Sequence[Measured], default: Measured
) -> tuple[Measured, Rounding]:
    """Return what fits by the first names that give the same value: an option departs only if it changes the value."""
    one, rounding = fitting
    same = (other for other in declared if other.value == one.value and not other.uncounted)
    return min(same, key=lambda other: sum(_differ(other, default))), rounding


def _differ(one: Measured, other: Measured) -> tuple[bool, bool]:
    return one.reading != other.reading, one.convention != other.convention


def _departures(chosen: tuple[Measured, Rounding], default: tuple[Measured, Rounding]) -> dict[str, str | None]:
    (one, rounding), (usual, usual_rounding) = chosen, default
    return {
        kind: name
        for kind, name, ordinary in (
            ("reading", one.reading, usual.reading),
            ("convention", one.convention, usual.convention),
            ("rounding", rounding, usual_rounding),
        )
        if name != ordinary
    }


def _name(departures: Mapping[str, str | None]) -> tuple[str, ...]:
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


def _alone_ways(
    printed: Printed,
    others: Sequence[tuple[Measured, Rounding]],
    judged: tuple[Measured, Rounding],
    support: Mapping[tuple[str, str], str],
) -> Iterator[OptionHint]:
    """Yield declared options that would fit this number alone, with how many of the paper's numbers each explains."""
    for one, rule in others:
        if rule is not Rounding.CEILING and one.value in printed.interval(rule) and not one.uncounted:
            departures = _departures((one, rule), judged)
            said = "; ".join(support[kind, str(name)] for kind, name in departures.items() if (kind, name) in support)
            yield _hint(one, departures, support=said)


def _undeclared_ways(
    printed: Printed,
    allowed: Sequence[Measured],
    rules: Sequence[Rounding],
    undeclared: Sequence[Measured],
    judged: tuple[Measured, Rounding],
) -> Iterator[OptionHint]:
    """Yield which undeclared rule or convention would fit: a hint for the reader, never a pass.

    Nobody rounds up: that rule would excuse any number that is too large by one.
    """
    usual, usual_rule = judged
    known = {(one, rule) for one in allowed for rule in rules}
    values = {(usual.value, usual.convention)}
    for one in (*allowed, *undeclared):
        if one.uncounted or ((one.value, one.convention) in values and one is not usual):
            continue
        values.add((one.value, one.convention))
        fitting = [rule for rule in LIKELY if (one, rule) not in known and one.value in printed.interval(rule)]
        for rule in [usual_rule] if usual_rule in fitting else fitting:
            departures = _departures((one, rule), judged)
            stated = {"rounding": rule in rules}
            yield _hint(one, departures, tuple(kind for kind in departures if not stated.get(kind, one in allowed)))


def _hint(
    one: Measured, departures: Mapping[str, str | None], missing: tuple[str, ...] = (), support: str = ""
) -> OptionHint:
    named = {kind: str(name) for kind, name in departures.items()}
    return OptionHint(value=decimal_text(one.value, EXACT), missing=missing, support=support, **named)


def _also(
    printed: Printed, declared: Sequence[Measured], deciding: Measured, rounding: Rounding
) -> tuple[Measurement, ...]:
    """Record the other measurements with what each alone would say under the default rounding."""
    interval = printed.interval(rounding)
    return tuple(
        Measurement(
            reading=one.reading,
            convention=one.convention,
            measured=decimal_text(one.value, EXACT),
            verdict=_alone(one, one.value in interval),
        )
        for one in declared
        if one != deciding
    )


def _alone(one: Measured, inside: bool) -> Verdict:
    if one.uncounted:
        return Verdict.UNVERIFIABLE
    return Verdict.REPRODUCED if inside else Verdict.DIFFERS
