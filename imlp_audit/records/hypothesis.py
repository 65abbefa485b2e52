"""What the counted numbers of a paper support when they are judged together, and how much a pass says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from pydantic import Field

from imlp_audit.records.base import Record
from imlp_audit.records.values import ByName, Count, Number


class Caught(Record):
    """How many of the wrong numbers that were tried would not have passed."""

    caught: Count
    tried: Count


class Power(Record):
    """Wrong numbers in place of passing ones: one last digit away, and within ten last digits."""

    one: Caught
    ten: Caught


def add_powers(powers: Iterable[Power]) -> Power:
    """Return the power of several passes together."""
    found = list(powers)

    def add(parts: Iterator[Caught]) -> Caught:
        each = list(parts)
        return Caught(caught=sum(one.caught for one in each), tried=sum(one.tried for one in each))

    return Power(one=add(one.one for one in found), ten=add(one.ten for one in found))


class GroupScore(Record):
    """Cells that share an option: the one chosen for them, and how many of the `votes` each declared option explains.

    `name` is a family of models for a reading, and table/column for a convention. `chance` is the best score on copies
    of the numbers with shifted digits. The choice is `clear`, `weak`, the `only` one that could be made, `shared`: a
    column with too few numbers follows the paper's other columns of its measure; or `mixed`: the column has two
    counters, the winner and its `rival`. The numbers are judged under a clear choice: the one that explains most of
    them. `alone` counts the numbers that each other option explains and the winner does not; those without any are left
    out.
    """

    name: str
    winner: str | None
    votes: Count
    scores: ByName[Count]
    chance: Count
    choice: Literal["only", "clear", "mixed", "shared", "weak"]
    rival: str | None = None
    alone: ByName[Count] = Field(default_factory=dict)


class FitScore(Record):
    """What the search for a convention explained, and the most that it explains of numbers with shifted digits."""

    explained: Count
    of: Count
    by_chance: Count


class ColumnScore(Record):
    """A column: the group that shares its convention, and the power of its passes.

    `passing` counts its numbers that pass, rows with a counter of their own included; `by_chance` how many pass on
    average, as a decimal, where every number of the paper is shifted by up to ten last digits. `fit` is
    there if the chosen convention was fitted.
    """

    group: GroupScore
    passing: Count
    by_chance: Number
    power: Power
    fit: FitScore | None = None


class PaperHypothesis(Record):
    """The best hypothesis: a rounding rule, a reading for each family of models, a convention for each column.

    `roundings` are the scores of the rounding rules where several are declared that differ for these numbers;
    `rounding_of` are the rules of measures that have their own, each named as its measure.
    """

    rounding: str
    roundings: GroupScore | None = None
    rounding_of: tuple[GroupScore, ...] = ()
    explained: Count
    votes: Count
    readings: tuple[GroupScore, ...]
    columns: tuple[ColumnScore, ...]
