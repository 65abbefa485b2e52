"""What the numbers of a row say about its candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from imlp_audit.models.recipe import Recipe
from imlp_audit.records.check import AnyCheck, Identified, Verdict

C = TypeVar("C", bound=AnyCheck)

BY_CHANCE = 0.01
"""How many combinations may be expected to give a row's numbers by chance for the numbers to identify it."""
LEAST = 3
"""Other numbers that have to follow before one is found wrong; of these at most one in five may not."""
DOUBTED = "another candidate of the row has this number"
FEW = "too few numbers of the column say how it was counted"
NOT_NAMED = "the model is proposed, and the label is not its name alone"


@dataclass(frozen=True)
class RowIdentity:
    """What the numbers say about a row's candidates: its model, how that is known, and a sentence on both.

    Without a model, the first candidate may be a `lead`.

    A row that `accuses` may have its other numbers found wrong: its label is a name and nothing more, as what else it
    says may be a change that the numbers show, or the other rows with such labels follow. A number in a `doubted`
    column is that of another of its candidates. Those that are `alike` have every number that the model has.
    """

    model: Recipe | None
    how: Identified
    reason: str
    lead: bool = False
    accuses: bool = False
    doubted: frozenset[str] = frozenset()
    alike: tuple[str, ...] = ()


def are_settled(hits: int, misses: int) -> bool:
    """Return whether enough numbers follow, and few do not."""
    return hits >= LEAST and 5 * misses <= hits + misses


def hold_back(check: C, why: str | None) -> C:
    """Return a failing check as one that cannot be decided, if there is a reason."""
    if why is None:
        return check
    return check.model_copy(update={"verdict": Verdict.UNVERIFIABLE, "reason": f"{why}: {check.reason}"})
