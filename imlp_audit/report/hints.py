"""What the hints of several failing checks have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import assert_never

from imlp_audit.numbers.forms import DecimalMark, NumberForm, parse_printed
from imlp_audit.numbers.interval import EXACT, decimal_text
from imlp_audit.numbers.printed import Printed, Rounding
from imlp_audit.records.check import (
    PASSES,
    AnotherModel,
    AnyHint,
    CellCheck,
    Check,
    CountedCheck,
    ModelHint,
    OptionHint,
)

_MARKS: tuple[DecimalMark, ...] = (".", ",")
_RELATIVES = "are as printed, or nearly, with another form or size of their model; `--all` names it for each"


def choose_hints(asked: Check, checks: Sequence[Check], every: Sequence[Check] = ()) -> tuple[str, ...]:
    """Return the first hint of a check, and before it what as many as possible of the finding's checks are hinted.

    A convention holds for a column, and a hint says what it would lose there. A rounding rule holds for the whole
    paper, so what it would lose among all checks (`every`) is counted too.
    """
    hinted: dict[str, list[tuple[Check, AnyHint]]] = {}
    for check in checks:
        for way, hint in {way: hint for hint in check.hints if (way := _way(hint)) is not None}.items():
            hinted.setdefault(way, []).append((check, hint))
    of_paper = [one for one in every if one.id.partition("/")[0] == asked.id.partition("/")[0]]
    lost = {way: _count_lost(found, of_paper) for way, found in hinted.items()}

    def worth(way: str) -> tuple[int, int]:
        _, hint = hinted[way][0]
        return len(hinted[way]) - lost[way], -len(_undeclared(hint))

    way = max(hinted, key=worth, default="")
    shared = len(hinted.get(way, ())) > 1
    own = [hint for hint in asked.hints[:1] if not shared or isinstance(hint, ModelHint) or _way(hint) != way]
    if not shared:
        return tuple(f"hint: {hint}" for hint in own)
    loss = f"; {lost[way]} that {'follows' if lost[way] == 1 else 'follow'} now would not" if lost[way] else ""
    _, hint = hinted[way][0]
    common = f"{len(hinted[way])} of these {len(checks)} {way}{loss}{_where(_undeclared(hint), asked)}"
    return tuple(f"hint: {hint}" for hint in (common, *own))


def _way(hint: AnyHint) -> str | None:
    """Return what a hint says without the numbers and the model of its row; None for one that no two rows share."""
    match hint:
        case OptionHint():
            return hint.way
        case ModelHint():
            return _RELATIVES
        case AnotherModel() | str():
            return None
        case _:
            assert_never(hint)


def _undeclared(hint: AnyHint) -> dict[str, str]:
    return hint.undeclared if isinstance(hint, OptionHint) else {}


def _where(missing: Mapping[str, str], check: Check) -> str:
    """Write how a spec declares a convention or rounding rule that it does not declare yet."""
    keys, convention = list[str](), missing.get("convention")
    if convention is not None and isinstance(check, CountedCheck) and check.convention is not None:
        key = _KEYS.get(convention) or _KEYS.get(check.convention, "flops")
        keys.append(f"{key}: [{convention}]")
    if "rounding" in missing:
        keys.append(f"rounding: [{missing['rounding']}]")
    return f"; if that is the paper's, declare it: `about: {{{', '.join(keys)}}}`" if keys else ""


_KEYS = {"all": "parameters", "with_buffers": "parameters", "mib": "memory", "mb": "memory"}
"""The keys of `about` by conventions that FLOPs do not have; parameters and FLOPs both have `no_head`."""


def _count_lost(hinted: Sequence[tuple[Check, AnyHint]], every: Sequence[Check]) -> int:
    """Return how many numbers that follow now would not: in the columns of hints that say so, or by a rounding rule."""
    columns = {_column(check): hint.lost for check, hint in hinted if isinstance(hint, OptionHint) and hint.lost}
    rule = _undeclared(hinted[0][1]).get("rounding")
    others = [check for check in every if _column(check) not in columns] if rule is not None else []
    return sum(columns.values()) + sum(_loses(check, Rounding(rule)) for check in others if rule is not None)


def _column(check: Check) -> tuple[str, ...]:
    """Return what names a cell's column: its id without the row."""
    parts = check.id.split("/")
    return *parts[:2], *parts[3:]


def _loses(check: Check, rule: Rounding) -> bool:
    """Return whether the measured value of a cell that passes would not be printed so under another rule."""
    if not isinstance(check, CellCheck) or check.verdict not in PASSES or check.measured is None:
        return False
    printed = _read_printed(check)
    return printed is not None and Fraction(check.measured) not in printed.interval(rule)


def _read_printed(check: CellCheck) -> Printed | None:
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
