"""Which hypothesis the counted numbers of a paper support, all of them judged together.

A paper had one model and a column one counter. A hypothesis is one reading for each family of models, one convention
for each column and one rounding rule; the best one explains most printed numbers. Pure, and exact: every combination
of the declared options is scored.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from itertools import product

from imlp_audit.numbers.printed import Printed, Rounding

LEAST_VOTES = 4
COPIES = 20
FARTHEST = 10  # last digits that a number is shifted by

Reading = str | None


@dataclass(frozen=True)
class Vote:
    """A counted cell: what it prints, and its value under each declared reading and convention.

    Cells of a `column` share a convention, cells of a `family` a reading; no family: the reading does not matter.
    A row that names its own counter (`fixed`) has no vote on its column's convention.
    """

    id: str
    column: str
    family: str | None
    printed: Printed
    values: Mapping[tuple[Reading, str], Fraction]
    fixed: bool = False

    def is_explained(self, rounding: Rounding, reading: Reading, convention: str) -> bool:
        """Return whether the cell's number follows under these options."""
        value = self.values.get((reading, convention))
        return value is not None and value in self.printed.interval(rounding)


@dataclass(frozen=True)
class Options:
    """The declared options, of each list the default first; conventions by column."""

    roundings: tuple[Rounding, ...]
    readings: tuple[Reading, ...]
    conventions: Mapping[str, tuple[str, ...]]


class Choice(StrEnum):
    """How sure a choice among declared options is."""

    ONLY = "only"  # every declared option gives these cells the same values: there is nothing to choose
    CLEAR = "clear"
    WEAK = "weak"  # too few numbers, a tie, or no better than numbers with shifted digits


@dataclass(frozen=True)
class Group:
    """Cells that share an option, the option chosen for them, and how many of them each option explains.

    `chance` is the best score of any option over copies of the numbers with shifted digits.
    """

    name: str
    winner: str | None
    votes: int
    scores: Mapping[str | None, int]
    chance: int
    choice: Choice


@dataclass(frozen=True)
class Hypothesis:
    """The best combination: its rounding rule, a group for each family's reading, one for each column's convention."""

    rounding: Rounding
    explained: int
    votes: int
    readings: Mapping[str, Group]
    conventions: Mapping[str, Group]


@dataclass(frozen=True)
class _Combination:
    """A rounding rule and a reading for each family."""

    rounding: Rounding
    readings: Mapping[str | None, Reading]


@dataclass(frozen=True)
class _Ballot:
    """Votes and the options they are cast on."""

    votes: Sequence[Vote]
    options: Options

    @cached_property
    def families(self) -> tuple[str, ...]:
        return tuple(sorted({vote.family for vote in self.votes if vote.family is not None}))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(vote.column for vote in self.votes))

    def combinations(self) -> Iterator[_Combination]:
        """Yield every rounding rule with every choice of readings, the defaults first."""
        usual = self.options.readings[0]
        for rounding in self.options.roundings:
            for readings in product(self.options.readings, repeat=len(self.families)):
                yield _Combination(rounding, {None: usual, **dict(zip(self.families, readings, strict=True))})

    def of_column(self, combination: _Combination, column: str) -> dict[str, int]:
        """Return how many votes of a column each of its conventions explains."""
        votes = [vote for vote in self.votes if vote.column == column and not vote.fixed]
        return {
            convention: sum(_explains(combination, vote, convention) for vote in votes)
            for convention in self.options.conventions[column]
        }

    def score(self, combination: _Combination) -> int:
        """Return how many votes a combination explains, with the best convention for each column."""
        own = sum(_explains(combination, vote, next(iter(vote.values))[1]) for vote in self.votes if vote.fixed)
        return own + sum(max(self.of_column(combination, column).values(), default=0) for column in self.columns)

    def shifted(self, seed: str) -> _Ballot:
        """Return a copy in which every number is off by some of its last digits."""
        draw = random.Random(seed)
        return replace(self, votes=[replace(vote, printed=shift(vote.printed, _offset(draw))) for vote in self.votes])


def choose(votes: Sequence[Vote], options: Options) -> Hypothesis:
    """Return the hypothesis that explains most votes; of equally good ones the one declared first."""
    ballot = _Ballot(votes, options)
    best = max(ballot.combinations(), key=ballot.score)  # the first of equals
    copies = [ballot.shifted(str(number)) for number in range(COPIES)]
    conventions = {column: _column_group(ballot, best, column, copies) for column in ballot.columns}
    return Hypothesis(
        rounding=best.rounding,
        explained=ballot.score(best),
        votes=len(votes),
        readings={family: _family_group(ballot, best, family, copies) for family in ballot.families},
        conventions=conventions,
    )


def _column_group(ballot: _Ballot, best: _Combination, column: str, copies: Sequence[_Ballot]) -> Group:
    votes = [vote for vote in ballot.votes if vote.column == column and not vote.fixed]
    scores = ballot.of_column(best, column)
    winner = max(scores, key=scores.__getitem__, default=None)

    def values(convention: str | None) -> tuple[Fraction | None, ...]:
        return tuple(vote.values.get((best.readings[vote.family], str(convention))) for vote in votes)

    def best_of(copy: _Ballot) -> int:
        return max((max(copy.of_column(one, column).values(), default=0) for one in copy.combinations()), default=0)

    return _group(column, winner, len(votes), {**scores}, values, copies, best_of)


def _family_group(ballot: _Ballot, best: _Combination, family: str, copies: Sequence[_Ballot]) -> Group:
    """Score the readings on the family's cells, each with the best conventions for it."""
    places = [
        index
        for index, vote in enumerate(ballot.votes)
        if vote.family == family and len({_by_reading(vote, reading) for reading in ballot.options.readings}) > 1
    ]
    readings = ballot.options.readings

    def explained(some: _Ballot, combination: _Combination) -> int:
        chosen = {column: some.of_column(combination, column) for column in some.columns}
        return sum(
            _explains(combination, vote, next(iter(vote.values))[1] if vote.fixed else _first_best(chosen[vote.column]))
            for vote in (some.votes[place] for place in places)
        )

    def with_reading(combination: _Combination, reading: Reading) -> _Combination:
        return replace(combination, readings={**combination.readings, family: reading})

    def values(reading: Reading) -> tuple[object, ...]:
        return tuple(_by_reading(ballot.votes[place], reading) for place in places)

    def best_of(copy: _Ballot) -> int:
        return max(explained(copy, one) for one in copy.combinations())

    scores = {reading: explained(ballot, with_reading(best, reading)) for reading in readings}
    return _group(family, best.readings[family], len(places), scores, values, copies, best_of)


def _group(
    name: str,
    winner: str | None,
    votes: int,
    scores: Mapping[str | None, int],
    values: Callable[[str | None], object],
    copies: Sequence[_Ballot],
    best_of: Callable[[_Ballot], int],
) -> Group:
    """Judge how sure the winner is; options that give the cells the same values count as one."""
    others = [option for option in scores if values(option) != values(winner)]
    if not others:
        return Group(name, winner, votes, scores, 0, Choice.ONLY)
    chance = max(best_of(copy) for copy in copies)
    beaten = max(scores[option] for option in others)
    clear = votes >= LEAST_VOTES and scores[winner] > max(beaten, chance)
    return Group(name, winner, votes, scores, chance, Choice.CLEAR if clear else Choice.WEAK)


def shift(printed: Printed, digits: int) -> Printed:
    """Return the number that is printed so many last digits away."""
    return replace(printed, value=printed.value + digits * printed.step)


def _offset(draw: random.Random) -> int:
    return draw.choice([digits for digits in range(-FARTHEST, FARTHEST + 1) if digits])


def _explains(combination: _Combination, vote: Vote, convention: str) -> bool:
    return vote.is_explained(combination.rounding, combination.readings[vote.family], convention)


def _by_reading(vote: Vote, reading: Reading) -> tuple[tuple[str, Fraction], ...]:
    """Return a cell's values under a reading, by convention."""
    return tuple((convention, value) for (name, convention), value in vote.values.items() if name == reading)


def _first_best(scores: Mapping[str, int]) -> str:
    return max(scores, key=scores.__getitem__)
