"""What the numbers of a row say about its candidates, and how likely they would match by chance."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import log
from typing import TypeVar

from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.printed import Printed
from imlp_audit.records.check import AnyCheck, Identified, Verdict

C = TypeVar("C", bound=AnyCheck)

BY_CHANCE = 0.01
"""How many combinations may be expected to give a row's numbers by chance for the numbers to identify it."""
LEAST = 3
"""Other numbers that have to follow before one is found wrong; of these at most one in five may not."""
DOUBTED = "another candidate of the row has this number"
FEW = "too few numbers of the column say how it was counted"
NOT_NAMED = "the model is proposed, and the label is not its name alone"
NO_PEERS = "the model is proposed, and too few other rows have all the numbers of the models that their labels name"
SET_APART = "the model is proposed, and the row is set apart"


@dataclass(frozen=True)
class RowIdentity:
    """What the numbers say about a row's candidates: its model, how that is known, and a sentence on both.

    Without a model, the first candidate may be a `lead`.

    A row that `accuses` may have its other numbers found wrong: its label is a name and nothing more, as what else it
    says may be a change that the numbers show, or the other rows with such labels follow. A number in a `doubted`
    column is that of another of its candidates, which it names. Those `alike` have every number that the model has.
    """

    model: Recipe | None
    how: Identified
    reason: str
    lead: bool = False
    accuses: bool = False
    doubted: Mapping[str, Recipe] = field(default_factory=dict)
    alike: tuple[str, ...] = ()


def are_settled(hits: int, misses: int) -> bool:
    """Return whether enough numbers follow, and few do not."""
    return hits >= LEAST and 5 * misses <= hits + misses


def hold_back(check: C, why: str) -> C:
    """Return a failing check as one that cannot be decided, for a reason."""
    return check.model_copy(update={"verdict": Verdict.UNVERIFIABLE, "reason": f"{why}: {check.reason}"})


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
    """Return the value that differs from a printed number in one digit, if at most so many of `values` do by chance."""
    theirs = re.sub(r"\D", "", printed.text)
    itself = printed.value * printed.scale
    if 9 * len(theirs) * len(values) * chance(printed, {itself}) > most:
        return None
    written = {value: re.sub(r"\D", "", printed.write(Fraction(value) / printed.scale)) for value in values}
    alike = [value for value, ours in written.items() if len(ours) == len(theirs)]
    return next((v for v in alike if sum(map(str.__ne__, written[v], theirs)) == 1), None)
