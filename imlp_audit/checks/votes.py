"""The votes of a paper's counted numbers, and which of them each combination of declared options explains.

Every combination is scored, so the best one is exact.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import product

from imlp_audit.numbers.printed import Printed, Rounding

COPIES = 20
FARTHEST = 10  # last digits that a number is shifted by
OFFSETS = tuple(digits for digits in range(-FARTHEST, FARTHEST + 1) if digits)

VoteSet = int
"""A set of votes: the bit at a vote's place is set if the vote is in it."""
Reading = str | None
_Key = tuple[Rounding, str | None, Reading, str]  # rule, family, reading, column
PAPER = "rounding"
"""The columns that the paper's rounding rules hold for: all but those of a measure with rules of its own."""


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

    @cached_property
    def by_reading(self) -> Mapping[Reading, Mapping[str, Fraction]]:
        """The values by reading, then by convention."""
        values: dict[Reading, dict[str, Fraction]] = {}
        for (reading, convention), value in self.values.items():
            values.setdefault(reading, {})[convention] = value
        return values

    def shifted(self, digits: int) -> Vote:
        """Return the same cell with another number, so many last digits away."""
        return replace(self, printed=replace(self.printed, value=self.printed.value + digits * self.printed.step))


@dataclass(frozen=True)
class DeclaredOptions:
    """The declared options; of each list the first is the default. Conventions and measures are by column.

    Columns of a measure have the same conventions to choose from; `rounding_of` are the rounding rules of measures that
    have their own. `unproven` conventions were fitted, but explain no
    more than numbers with shifted digits would have let the search explain.
    """

    roundings: tuple[Rounding, ...]
    readings: tuple[Reading, ...]
    conventions: Mapping[str, tuple[str, ...]]
    measures: Mapping[str, str]
    unproven: frozenset[str] = frozenset()
    rounding_of: Mapping[str, tuple[Rounding, ...]] = field(default_factory=dict)

    def rounding_group(self, column: str) -> str:
        """Return the name of the columns that share a column's rounding rule: its measure, or `PAPER`."""
        return self.measures[column] if self.measures[column] in self.rounding_of else PAPER

    def rules_of(self, group: str) -> tuple[Rounding, ...]:
        """Return the rounding rules that a group of columns has to choose from."""
        return self.rounding_of.get(group, self.roundings)


@dataclass(frozen=True)
class Combination:
    """A rounding rule for each group of columns that shares one, and a reading for each family."""

    rules: Mapping[str, Rounding]
    readings: Mapping[str | None, Reading]


def follows(vote: Vote, options: DeclaredOptions) -> bool:
    """Return whether a number follows under any of the declared options."""
    intervals = [vote.printed.interval(rule) for rule in options.rules_of(options.rounding_group(vote.column))]
    return any(value in interval for value in vote.values.values() for interval in intervals)


def _ballot(vote: Vote, options: DeclaredOptions) -> Iterator[tuple[_Key, list[str]]]:
    for rounding in options.rules_of(options.rounding_group(vote.column)):
        interval = vote.printed.interval(rounding)
        for reading in options.readings:
            names = [name for name, value in vote.by_reading.get(reading, {}).items() if value in interval]
            yield (rounding, vote.family, reading, vote.column), [""] * bool(names) if vote.fixed else names


@dataclass(frozen=True)
class Votes:
    """Which votes of each family and column follow, by rounding rule and reading, under each convention.

    Votes of rows with a counter of their own are kept apart, under "". `choosing` are the other votes of each
    column, with the digits that the paper prints; `families` are those that the votes are of.
    """

    each: tuple[Vote, ...]
    options: DeclaredOptions
    following: Mapping[_Key, Mapping[str, VoteSet]]
    choosing: Mapping[str, tuple[Vote, ...]]
    families: tuple[str, ...]

    @classmethod
    def of(cls, votes: Sequence[Vote], options: DeclaredOptions) -> Votes:
        """Count the votes."""
        following = defaultdict[_Key, defaultdict[str, VoteSet]](lambda: defaultdict(int))
        choosing: dict[str, list[Vote]] = {}
        for place, vote in enumerate(votes):
            choosing.setdefault(vote.column, []).extend([] if vote.fixed else [vote])
            for key, names in _ballot(vote, options):
                for name in names:
                    following[key][name] |= 1 << place
        families = tuple(sorted({vote.family for vote in votes if vote.family is not None}))
        chosen = {column: tuple(some) for column, some in choosing.items()}
        return cls(tuple(votes), options, dict(following), chosen, families)

    def with_vote(self, place: int, vote: Vote) -> Votes:
        """Return the votes with other digits in one place: the vote of the same cell on the same values."""
        following, bit = dict(self.following), 1 << place
        for key, names in _ballot(vote, self.options):
            before = following.get(key, {})
            kept = {name: votes & ~bit for name, votes in before.items()}
            following[key] = {**kept, **{name: kept.get(name, 0) | bit for name in names}}
        return replace(self, each=(*self.each[:place], vote, *self.each[place + 1 :]), following=following)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that the votes are of, in order."""
        return tuple(self.choosing)

    def columns_like(self, column: str) -> tuple[str, ...]:
        """Return the columns of the same measure, itself included."""
        measures = self.options.measures
        return tuple(other for other in self.columns if measures[other] == measures[column])

    @cached_property
    def rounding_groups(self) -> Mapping[str, tuple[str, ...]]:
        """The columns that share a rounding rule, by the name of their group."""
        found: dict[str, tuple[str, ...]] = {}
        for column in self.columns:
            group = self.options.rounding_group(column)
            found[group] = (*found.get(group, ()), column)
        return found

    def rule(self, combination: Combination, column: str) -> Rounding:
        """Return the rounding rule that a combination has for a column."""
        return combination.rules[self.options.rounding_group(column)]

    @cached_property
    def combinations(self) -> tuple[Combination, ...]:
        """Every choice of rounding rules with every choice of readings, the defaults first."""
        usual, groups = self.options.readings[0], self.rounding_groups
        return tuple(
            Combination(
                dict(zip(groups, rules, strict=True)), {None: usual, **dict(zip(self.families, readings, strict=True))}
            )
            for rules in product(*map(self.options.rules_of, groups))
            for readings in product(self.options.readings, repeat=len(self.families))
        )

    def followers(
        self, combination: Combination, columns: Sequence[str], families: Sequence[str | None] | None = None
    ) -> dict[str, VoteSet]:
        """Return which votes of some columns and families (all of them if left out) follow under each convention."""
        found = dict.fromkeys(("", *self.options.conventions[columns[0]]), 0)
        for family, column in product((None, *self.families) if families is None else families, columns):
            key = self.rule(combination, column), family, combination.readings[family], column
            for convention, votes in self.following.get(key, {}).items():
                found[convention] |= votes
        return found

    def scores(self, combination: Combination, *columns: str) -> dict[str, int]:
        """Return how many votes of one or more columns each convention explains, of those that choose among them."""
        found = self.followers(combination, columns)
        return {convention: votes.bit_count() for convention, votes in found.items() if convention}

    def explained(self, combination: Combination, group: str | None = None, family: str | None = None) -> VoteSet:
        """Return which votes follow with the best convention for each whole column: all, or a group's or a family's."""
        explained = 0
        for column in self.columns if group is None else self.rounding_groups[group]:
            found = whole = self.followers(combination, (column,))
            if family is not None:
                found = self.followers(combination, (column,), (family,))
            best = max((name for name in whole if name), key=lambda name: whole[name].bit_count(), default="")
            explained |= found[""] | found[best]
        return explained

    def score(self, combination: Combination, group: str | None = None, family: str | None = None) -> int:
        """Return how many votes follow with the best convention for each whole column."""
        return self.explained(combination, group, family).bit_count()

    @cached_property
    def copies(self) -> tuple[Votes, ...]:
        """Copies in which every number is off by some of its last digits."""
        draws = map(random.Random, range(COPIES))
        wrong = ([vote.shifted(draw.choice(OFFSETS)) for vote in self.each] for draw in draws)
        return tuple(Votes.of(votes, self.options) for votes in wrong)

    @cached_property
    def best(self) -> Combination:
        """The combination that explains most votes; of equally good ones the one declared first."""
        return max(self.combinations, key=self.score)  # max keeps the first of equals, here and in `explained`

    def best_by_rule(self, group: str) -> dict[Rounding, Combination]:
        """Return the best combination with each rounding rule of a group of columns."""
        return {
            rule: max((one for one in self.combinations if one.rules[group] is rule), key=self.score)
            for rule in self.options.rules_of(group)
        }
