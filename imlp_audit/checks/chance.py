"""How likely a model has printed numbers by chance: what a coincidence is worth."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import log

from imlp_audit.checks.identity import LEAST
from imlp_audit.numbers.printed import Printed, Rounding
from imlp_audit.spec.paper import CellRef
from imlp_audit.spec.schema import PrintedTable

_SURE = 6  # zeros that so many numbers of a column end in only if they are no digits
_MISPRINTED = 5  # digits
_NUMBER = re.compile(r"\d[\d.,]*")


def count_padding(table: PrintedTable, column: str) -> Mapping[str, int]:
    """Return how many last digits of a column's numbers may be no digits, by row: 25.50, 25,551,000 or 132863000.

    All its decimals end in as many zeros, or four in five of its integers keep to as many significant digits.
    """
    found = {row.id: one for row in table.rows if (one := _NUMBER.search(row.printed.get(column, "")))}
    numbers = {name: one[0].replace(",", "") for name, one in found.items()}
    zeros = {name: len(number) - len(number.rstrip("0")) for name, number in numbers.items()}
    if len(numbers) < LEAST or len({"." in number for number in numbers.values()}) > 1:
        return {}
    if any("." in number for number in numbers.values()):
        return dict.fromkeys(numbers, min(zeros.values()))
    kept = sorted(len(number) - zeros[name] for name, number in numbers.items())[4 * (len(numbers) - 1) // 5]
    padded = {name: min(zeros[name], len(number) - kept) for name, number in numbers.items()}
    return {name: n for name, n in padded.items() if n > 0} if sum(padded.values()) >= _SURE else {}


def without_padding(cell: CellRef) -> Printed:
    """Return a cell's number, without the zeros that pad its column."""
    padding = count_padding(cell.row.table.value, cell.column_id)
    return replace(cell.printed, step=cell.printed.step * 10 ** padding.get(cell.row.row.id, 0))


def matches(printed: Printed, value: Fraction | int) -> bool:
    """Return whether a value prints as a number does, rounded or cut off."""
    return value in printed.interval(Rounding.HALF_UP) or value in printed.interval(Rounding.TRUNCATION)


def is_a_digit_off(printed: Printed, value: int) -> bool:
    """Return whether a value prints as a number of five digits or more but for one: by chance one in a hundred does."""
    ours, theirs = (re.sub(r"\D", "", one) for one in (printed.write(Fraction(value) / printed.scale), printed.text))
    alike = len(ours) == len(theirs) >= _MISPRINTED
    return alike and sum(one != other for one, other in zip(ours, theirs, strict=True)) == 1


def chance(printed: Printed, values: set[int] | set[Fraction]) -> float:
    """Return how many of some values are expected to print as a number by chance, each within a factor of two of it."""
    rounded, cut = printed.interval(Rounding.HALF_UP), printed.interval(Rounding.TRUNCATION)
    low, high = min(rounded.low, cut.low), max(rounded.high, cut.high)
    if low <= 0:
        return 1.0
    near = sum(low <= 2 * value and value <= 2 * high for value in values)
    return min(1.0, near * log(high / low) / log(4))


def at_least(hits: int, odds: Sequence[float]) -> float:
    """Return the chance that at least so many of independent events happen, each with its own odds."""
    counts = [1.0]
    for one in odds:
        counts = [a * (1 - one) + b * one for a, b in zip([*counts, 0.0], [0.0, *counts], strict=True)]
    return sum(counts[hits:])
