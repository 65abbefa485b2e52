"""Which hypothesis the counted numbers of a paper support when they are judged together.

A paper had one model and a column one counter. A hypothesis is one reading for each family of models, one convention
for each column and one rounding rule. The best one explains most printed numbers; every combination of the declared
options is scored, so the choice is exact.
"""

from __future__ import annotations

import random
from collections import Counter
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

    Cells of a `column` share a convention, cells of a `family` a reading (no family: the reading does not matter). A
    row that names its own counter (`fixed`) does not vote on its column's convention.
    """

    id: str
    column: str
    family: str | None
    printed: Printed
    values: Mapping[tuple[Reading, str], Fraction]
    fixed: bool = False

    def explained_by(self, rounding: Rounding, reading: Reading) -> list[str]:
        """Return the conventions under which the number follows."""
        interval = self.printed.interval(rounding)
        return [
            convention for (name, convention), value in self.values.items() if name == reading and value in interval
        ]

    def under(self, reading: Reading) -> tuple[tuple[str, Fraction], ...]:
        """Return the values under a reading, by convention."""
        return tuple((convention, value) for (name, convention), value in self.values.items() if name == reading)

    def shifted(self, digits: int) -> Vote:
        """Return the same cell with another number, so many last digits away."""
        return replace(self, printed=replace(self.printed, value=self.printed.value + digits * self.printed.step))


@dataclass(frozen=True)
class Options:
    """The declared options; of each list the first is the default. Conventions are by column."""

    roundings: tuple[Rounding, ...]
    readings: tuple[Reading, ...]
    conventions: Mapping[str, tuple[str, ...]]


class Choice(StrEnum):
    """How sure a choice among declared options is."""

    ONLY = "only"  # all options give these cells the same values: there is nothing to choose
    CLEAR = "clear"
    WEAK = "weak"  # too few numbers, a tie, or no better than numbers with shifted digits


@dataclass(frozen=True)
class Group:
    """Cells that share an option, the option chosen for them, and how many of them each option explains.

    `chance` is the best score that any option reaches on copies of the numbers with shifted digits.
    """

    name: str
    winner: str | None
    votes: int
    scores: Mapping[str | None, int]
    chance: int
    choice: Choice

    @property
    def allowed(self) -> tuple[str | None, ...]:
        """The options that a cell of the group may be judged under: all, unless the choice is clear."""
        return (self.winner,) if self.choice is Choice.CLEAR else tuple(self.scores)


@dataclass(frozen=True)
class Hypothesis:
    """The best combination: a rounding rule, a group for each family's reading and one for each column's convention."""

    rounding: Rounding
    explained: int
    votes: int
    readings: Mapping[str, Group]
    conventions: Mapping[str, Group]


@dataclass(frozen=True)
class _Combination:
    """A rounding rule, and a reading for each family."""

    rounding: Rounding
    readings: Mapping[str | None, Reading]


_Key = tuple[Rounding, str | None, Reading, str]  # rule, family, reading, column


def _ballot(vote: Vote, options: Options) -> Iterator[tuple[_Key, list[str]]]:
    """Yield what a vote adds to a tally."""
    for rounding, reading in product(options.roundings, options.readings):
        names = vote.explained_by(rounding, reading)
        yield (rounding, vote.family, reading, vote.column), [""] * bool(names) if vote.fixed else names


@dataclass(frozen=True)
class Tally:
    """How many votes of each family and column follow, by rounding rule and reading, under each convention.

    Votes of rows with a counter of their own are counted apart, under "".
    """

    votes: tuple[Vote, ...]
    options: Options
    counts: Mapping[_Key, Counter[str]]

    @classmethod
    def of(cls, votes: Sequence[Vote], options: Options) -> Tally:
        """Count the votes."""
        counts: dict[_Key, Counter[str]] = {}
        for vote in votes:
            for key, names in _ballot(vote, options):
                counts.setdefault(key, Counter()).update(names)
        return cls(tuple(votes), options, counts)

    def with_vote(self, place: int, vote: Vote) -> Tally:
        """Return the tally with another vote in one place."""
        counts = dict(self.counts)
        for key, names in _ballot(self.votes[place], self.options):
            counts[key] = counts[key] - Counter(names)
        for key, names in _ballot(vote, self.options):
            counts[key] = counts[key] + Counter(names)
        return Tally((*self.votes[:place], vote, *self.votes[place + 1 :]), self.options, counts)

    @cached_property
    def families(self) -> tuple[str, ...]:
        """The families that the votes are of."""
        return tuple(sorted({vote.family for vote in self.votes if vote.family is not None}))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that the votes are of, in order."""
        return tuple(dict.fromkeys(vote.column for vote in self.votes))

    @cached_property
    def combinations(self) -> tuple[_Combination, ...]:
        """Every rounding rule with every choice of readings, the defaults first."""
        usual = self.options.readings[0]
        return tuple(
            _Combination(rounding, {None: usual, **dict(zip(self.families, readings, strict=True))})
            for rounding in self.options.roundings
            for readings in product(self.options.readings, repeat=len(self.families))
        )

    def of_column(self, combination: _Combination, column: str, families: Sequence[str | None]) -> Counter[str]:
        """Return how many votes of a column, of some families, follow under each convention."""
        found = Counter[str]()
        for family in families:
            found.update(self.counts.get((combination.rounding, family, combination.readings[family], column), {}))
        return found

    def scores(self, combination: _Combination, column: str) -> dict[str, int]:
        """Return the votes on a column's convention."""
        found = self.of_column(combination, column, (None, *self.families))
        return {convention: found[convention] for convention in self.options.conventions[column]}

    def score(self, combination: _Combination) -> int:
        """Return how many votes a combination explains, with the best convention for each column."""
        own = sum(self.of_column(combination, column, (None, *self.families))[""] for column in self.columns)
        return own + sum(max(self.scores(combination, column).values(), default=0) for column in self.columns)

    def score_of_family(self, combination: _Combination, family: str) -> int:
        """Return how many votes of a family a combination explains, with the best convention for each whole column."""
        explained = 0
        for column in self.columns:
            found, scores = self.of_column(combination, column, (family,)), self.scores(combination, column)
            explained += found[""] + (found[_first_best(scores)] if scores else 0)
        return explained

    def copies(self) -> Iterator[Tally]:
        """Yield copies in which every number is off by some of its last digits."""
        offsets = [digits for digits in range(-FARTHEST, FARTHEST + 1) if digits]
        for number in range(COPIES):
            draw = random.Random(number)
            yield Tally.of([vote.shifted(draw.choice(offsets)) for vote in self.votes], self.options)


Chances = Mapping[tuple[str, str], int]


def choose(votes: Sequence[Vote], options: Options) -> Hypothesis:
    """Return the hypothesis that explains most votes; of equally good ones the one declared first."""
    tally = Tally.of(votes, options)
    return judge(tally, chances_of(tally))


def chances_of(tally: Tally) -> Chances:
    """Return the best score that each group reaches on a copy with shifted digits, under any option."""
    best = Counter[tuple[str, str]]()
    for copy in tally.copies():
        for one in copy.combinations:
            for column in copy.columns:
                score = max(copy.scores(one, column).values(), default=0)
                best["column", column] = max(best["column", column], score)
            for family in copy.families:
                best["family", family] = max(best["family", family], copy.score_of_family(one, family))
    return best


def judge(tally: Tally, chances: Chances) -> Hypothesis:
    """Return the best hypothesis, with how sure each of its choices is."""
    best = max(tally.combinations, key=tally.score)  # the first of equals
    return Hypothesis(
        rounding=best.rounding,
        explained=tally.score(best),
        votes=len(tally.votes),
        readings={family: _family_group(tally, best, family, chances) for family in tally.families},
        conventions={column: _column_group(tally, best, column, chances) for column in tally.columns},
    )


def passes(hypothesis: Hypothesis, vote: Vote) -> bool:
    """Return whether a cell's number follows under the hypothesis, or under any option where a choice is weak."""
    interval = vote.printed.interval(hypothesis.rounding)
    readings = None if vote.family is None else hypothesis.readings[vote.family].allowed
    conventions = None if vote.fixed else hypothesis.conventions[vote.column].allowed
    return any(
        value in interval
        for (reading, convention), value in vote.values.items()
        if (readings is None or reading in readings) and (conventions is None or convention in conventions)
    )


def _column_group(tally: Tally, best: _Combination, column: str, chances: Chances) -> Group:
    votes = [vote for vote in tally.votes if vote.column == column and not vote.fixed]
    scores: dict[str | None, int] = dict(tally.scores(best, column).items())

    def values(convention: str | None) -> object:
        return [vote.values.get((best.readings[vote.family], str(convention))) for vote in votes]

    winner = max(scores, key=scores.__getitem__, default=None)
    return _group(column, winner, len(votes), scores, values, chances["column", column])


def _family_group(tally: Tally, best: _Combination, family: str, chances: Chances) -> Group:
    """Score the readings on the family's cells, each with the best conventions for it."""
    votes = [vote for vote in tally.votes if vote.family == family]
    scores: dict[str | None, int] = {
        reading: tally.score_of_family(replace(best, readings={**best.readings, family: reading}), family)
        for reading in tally.options.readings
    }

    def values(reading: str | None) -> object:
        return [vote.under(reading) for vote in votes]

    return _group(family, best.readings[family], len(votes), scores, values, chances["family", family])


def _group(
    name: str,
    winner: str | None,
    votes: int,
    scores: Mapping[str | None, int],
    values: Callable[[str | None], object],
    chance: int,
) -> Group:
    """Judge how sure the winner is; options that give the cells the same values count as one."""
    others = [option for option in scores if values(option) != values(winner)]
    if not others:
        return Group(name, winner, votes, scores, chance, Choice.ONLY)
    beaten = max(scores[option] for option in others)
    clear = votes >= LEAST_VOTES and scores[winner] > max(beaten, chance)
    return Group(name, winner, votes, scores, chance, Choice.CLEAR if clear else Choice.WEAK)


def _first_best(scores: Mapping[str, int]) -> str:
    return max(scores, key=scores.__getitem__)
