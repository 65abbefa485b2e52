"""What the hints of several failing checks have in common."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from imlp_audit.numbers.forms import DecimalMark, NumberForm, parse_printed
from imlp_audit.numbers.interval import EXACT, decimal_text
from imlp_audit.numbers.printed import Printed, Rounding
from imlp_audit.records.check import PASSES, Check, CheckKind

_MARKS: tuple[DecimalMark, ...] = (".", ",")
_FITS = " would fit"
_RELATIVE = re.compile(r"(as printed )?with `model: ")
_RULE = re.compile(rf"rounding ({'|'.join(Rounding)})")
_CONVENTION = re.compile(r"\bconvention ([\w-]+)")
_CHOICE = re.compile(r"\b(?:reading|convention|rounding) ")
_LOSS = re.compile(r"; (\d+) of the column's numbers that follows? now would not")
_MISSING = "the spec does not declare"


def choose_hints(asked: Check, checks: Sequence[Check], every: Sequence[Check] = ()) -> tuple[str, ...]:
    """Return the first hint of a check, and before it what as many as possible of the finding's checks are hinted.

    A convention holds for a column, and a hint says what it would lose there. A rounding rule holds for the whole
    paper, so what it would lose among all checks (`every`) is counted too.
    """
    ways = Counter(way for check in checks for way in dict.fromkeys(map(_way, check.hints)) if way is not None)
    paper = asked.id.partition("/")[0]
    lost = {way: _count_lost(way, checks, [one for one in every if one.id.partition("/")[0] == paper]) for way in ways}
    way = max(ways, key=lambda one: (ways[one] - lost[one], -len(_CHOICE.findall(_undeclared(one)))), default="")
    shared = ways[way] > 1
    own = [hint for hint in asked.hints[:1] if not shared or _RELATIVE.match(hint) or _way(hint) != way]
    loss = (
        f"; {lost[way]} that {'follows' if lost[way] == 1 else 'follow'} now would not" if shared and lost[way] else ""
    )
    common = [f"{ways[way]} of these {len(checks)} {way}{loss}{_where(way, asked)}"] if shared else []
    return tuple(f"hint: {hint}" for hint in (*common, *own))


def _way(hint: str) -> str | None:
    """Return what a hint says without the numbers and the model of its row."""
    if _RELATIVE.match(hint):
        return "are as printed, or nearly, with another form or size of their model; `--all` names it for each"
    _, fits, rest = hint.partition(_FITS)
    return f"{fits.strip()}{_LOSS.sub('', rest)}" if fits else None


def _undeclared(way: str) -> str:
    """Return the choices of a way that the spec does not declare."""
    fits, _, missing = way.partition(f"; {_MISSING} ")
    return missing or (fits if _MISSING in way else "")


def _where(way: str, check: Check) -> str:
    """Write how a spec declares a convention or rounding rule that it does not declare yet."""
    missing, keys = _undeclared(way), list[str]()
    convention, rule = _CONVENTION.search(missing), _RULE.search(missing)
    if convention is not None and check.convention is not None:
        key = _KEYS.get(convention[1]) or _KEYS.get(check.convention, "flops")
        keys.append(f"{key}: [{convention[1]}]")
    if rule is not None:
        keys.append(f"rounding: [{rule[1]}]")
    return f"; if that is the paper's, declare it: `about: {{{', '.join(keys)}}}`" if keys else ""


_KEYS = {"all": "parameters", "with_buffers": "parameters", "mib": "memory", "mb": "memory"}
"""The keys of `about` by conventions that FLOPs do not have; parameters and FLOPs both have `no_head`."""


def _count_lost(way: str, checks: Sequence[Check], every: Sequence[Check]) -> int:
    """Return how many numbers that follow now would not: in the columns of hints that say so, or by a rounding rule."""
    hinted = ((check, hint) for check in checks for hint in check.hints if _way(hint) == way)
    columns = {_column(check): int(loss[1]) for check, hint in hinted if (loss := _LOSS.search(hint))}
    rule = _RULE.search(_undeclared(way))
    others = [check for check in every if _column(check) not in columns] if rule is not None else []
    return sum(columns.values()) + sum(_loses(check, Rounding(rule[1])) for check in others if rule is not None)


def _column(check: Check) -> tuple[str, ...]:
    """Return what names a cell's column: its id without the row."""
    parts = check.id.split("/")
    return *parts[:2], *parts[3:]


def _loses(check: Check, rule: Rounding) -> bool:
    """Return whether the measured value of a cell that passes would not be printed so under another rule."""
    if check.kind is not CheckKind.CELL or check.verdict not in PASSES or check.measured is None:
        return False
    printed = _read_printed(check)
    return printed is not None and Fraction(check.measured) not in printed.interval(rule)


def _read_printed(check: Check) -> Printed | None:
    """Read a check's printed number by the decimal mark that gives its interval; None where neither does."""
    for mark in _MARKS:
        try:
            printed = parse_printed(check.printed or "", NumberForm(check.unit or "", mark))
            interval = printed.interval(Rounding(check.rounding or ""))
        except ValueError:
            continue
        if (decimal_text(interval.low, EXACT), decimal_text(interval.high, EXACT)) == check.interval:
            return printed
    return None
