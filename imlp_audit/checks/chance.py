"""How likely a model has printed numbers by chance: what a coincidence is worth."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from fractions import Fraction
from math import log

from imlp_audit.numbers.printed import Printed


def matches(printed: Printed, value: Fraction | int) -> bool:
    """Return whether a value prints as a number does, rounded or cut off."""
    return any(value in one for one in printed.rounded_and_cut)


def chance(printed: Printed, values: set[int] | set[Fraction]) -> float:
    """Return how many of some values are expected to print as a number by chance, each within a factor of two of it."""
    rounded, cut = printed.rounded_and_cut
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


def find_misprinted(printed: Printed, values: Collection[int], most: float) -> int | None:
    """Return the value that prints as a number but for one digit, if at most so many of `values` would by chance."""
    theirs = re.sub(r"\D", "", printed.text)
    itself = printed.value * printed.scale
    if 9 * len(theirs) * len(values) * chance(printed, {itself}) > most:
        return None
    written = {value: re.sub(r"\D", "", printed.write(Fraction(value) / printed.scale)) for value in values}
    alike = [value for value, ours in written.items() if len(ours) == len(theirs)]
    return next((v for v in alike if sum(map(str.__ne__, written[v], theirs)) == 1), None)
