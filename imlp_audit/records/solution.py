"""What a search found, as records: to and from JSON, and to a report."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from imlp_audit.records.base import ByName, JsonDocument, Number, Record

Searched: TypeAlias = Literal["parameters", "flops", "both"]
"""The numbers that a search is over."""


class AxisState(StrEnum):
    """What the numbers decide about an axis.

    PINNED: all numbers are explained, and only by one value. AGREED: the best solutions have one value, but not all
    numbers are explained. NARROWED: they have some of the tried values. FREE: they have all.
    """

    PINNED = "pinned"
    AGREED = "agreed"
    NARROWED = "narrowed"
    FREE = "free"


class SolvedAxis(Record):
    """An axis of a family's readings: its values in the best solutions, of those tried, and those of named readings.

    One that has a single value rests on the cells that the first solution explains and would not with some other
    tried value of this axis alone.
    """

    family: str
    axis: str
    values: tuple[str, ...]
    tried: tuple[str, ...]
    named: ByName[str]
    rests_on: tuple[str, ...] = ()

    @property
    def is_free(self) -> bool:
        """Whether every tried value is among the best solutions."""
        return len(self.values) == len(self.tried)


class SolvedWeights(Record):
    """Classes of work that no number tells apart, and the weights that their sum has in the best solutions.

    Each class counts `factors` times in the sum.
    """

    classes: tuple[str, ...]
    factors: tuple[int, ...]
    values: tuple[int, ...]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len(self.factors) != len(self.classes):
            raise ValueError("there is not one factor for each class")
        return self


class SolvedCell(Record):
    """A cell that no best solution explains: the nearest value of any, and its gap in units of the last digit.

    The gap is above zero where the value is too large. Without a value the row knows no such count.
    """

    id: str
    value: int | None = None
    gap: Number | None = None


class SolvedFirst(Record):
    """The first of the best solutions, by the rule of order."""

    reading: ByName[ByName[str]]
    nearest: str | None = None
    apart: int
    parameters: str | None = None
    parameter_rounding: str | None = None
    flops_rounding: str | None = None
    weights: ByName[int]


class Answered(Record):
    """The answer to one search: over the parameters, the FLOPs, or both.

    `score` cells of `of` are explained by each of `solutions`, with `readings`
    best readings by family; `named` are the named readings among them. `contradicted` cells are explained by no
    solution, `disputed` ones by some and not by others. `conventions` are the best scores by named conventions. Where
    weights of no name explain (`by_weights`) at most one number more than a `named_counter`, the answer is that under
    the counter. `null` are the least and the largest score that the same search can reach on tables with shifted
    digits. `counters` is how many different weighted sums the best solutions have. Where `exhaustive` is false the
    budget ended the search, and no solution explains more than `bound` cells.
    """

    what: Searched
    score: int
    of: int
    solutions: int
    exhaustive: bool
    bound: int
    readings: ByName[int]
    reading: str | None = None
    counters: int | None = None
    named: tuple[str, ...]
    first: SolvedFirst
    axes: tuple[SolvedAxis, ...]
    weights: tuple[SolvedWeights, ...] = ()
    contradicted: tuple[SolvedCell, ...] = ()
    disputed: tuple[str, ...] = ()
    conventions: ByName[int] = Field(default_factory=dict)
    named_counter: str | None = None
    by_weights: int | None = None
    null: tuple[tuple[int, int], ...] = ()

    @property
    def unexplained(self) -> int:
        """How many numbers a best solution leaves unexplained."""
        return self.of - self.score

    def state_of(self, axis: SolvedAxis) -> AxisState:
        """Return what the numbers decide about an axis; nothing is pinned while a number may be explained otherwise."""
        if axis.is_free:
            return AxisState.FREE
        if len(axis.values) > 1:
            return AxisState.NARROWED
        return AxisState.AGREED if self.unexplained or not self.exhaustive else AxisState.PINNED


class Solved(JsonDocument):
    """What the numbers of a selection say the models were, by their parameters, their FLOPs, and both.

    `left_out` says why rows, and the FLOPs of rows, are no part of the search.
    """

    FORMAT: ClassVar = "imlp-audit/solve/2"
    WRITTEN_BY: ClassVar = "imlp-audit solve"

    selection: tuple[str, ...]
    left_out: ByName[str]
    answers: tuple[Answered, ...]
    order: str

    @property
    def last(self) -> Answered:
        """The answer that all cells have a part in."""
        return self.answers[-1]
