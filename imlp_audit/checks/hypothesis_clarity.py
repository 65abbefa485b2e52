"""Which hypothesis the counted numbers of a paper support together, whether that is clear, and how much a pass says.

A paper had one model and a column one counter. A hypothesis is one reading for each family of models, one convention
for each column and one rounding rule, or one for each measure that has rules of its own. The best one explains most
printed numbers. The power of a pass counts the wrong numbers that would not have passed in its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import assert_never

from imlp_audit.checks.votes import COPIES, OFFSETS, PAPER, Combination, Vote, Votes, VoteSet, follows
from imlp_audit.numbers.interval import decimal_text
from imlp_audit.numbers.printed import Rounding
from imlp_audit.records.check import Caught, Power, add_powers
from imlp_audit.records.result import ColumnScore, FitScore, GroupScore, PaperHypothesis

LEAST_VOTES = 4
MANY_VOTES = 10
MIXED_FROM = 3
"""Numbers that a rival has to explain alone for a column to be one of two counters."""


class Clarity(StrEnum):
    """How sure a choice among declared options is."""

    ONLY = "only"  # all options give these cells the same values: there is nothing to choose
    CLEAR = "clear"
    MIXED = "mixed"  # two counters in one column: each explains numbers that the other does not
    SHARED = "shared"  # a column that is not clear alone: the paper's columns of the measure are, and it agrees
    WEAK = "weak"  # too few numbers, a tie, no better than numbers with shifted digits, or a rival explains some alone


@dataclass(frozen=True)
class VoteGroup:
    """Cells that share an option, the option chosen for them, and how many of them each option explains.

    `chance` is the best score that any option reaches on copies of the numbers with shifted digits; `alone` counts the
    numbers that another option explains and the winner does not, the most first.
    """

    name: str
    winner: str | None
    votes: int
    scores: Mapping[str | None, int]
    chance: int
    choice: Clarity
    alone: Mapping[str | None, int] = field(default_factory=dict)

    @property
    def rival(self) -> str | None:
        """The other counter of a mixed column."""
        return next(iter(self.alone)) if self.choice is Clarity.MIXED else None

    @property
    def allowed(self) -> tuple[str | None, ...]:
        """The options that a cell of the group may be judged under: all, unless the choice is clear or mixed."""
        match self.choice:
            case Clarity.CLEAR | Clarity.SHARED:
                return (self.winner,)
            case Clarity.MIXED:
                return self.winner, self.rival
            case Clarity.ONLY | Clarity.WEAK:
                return tuple(self.scores)
            case _:
                assert_never(self.choice)


@dataclass(frozen=True)
class Hypothesis:
    """The best combination: a group for each rounding rule, each family's reading and each column's convention."""

    roundings: Mapping[str, VoteGroup]
    explained: int
    votes: int
    readings: Mapping[str, VoteGroup]
    conventions: Mapping[str, VoteGroup]


@dataclass(frozen=True)
class Chances:
    """Copies of the votes with shifted digits, and the best score that each group reaches on one, under any option."""

    copies: tuple[Votes, ...]
    best: Mapping[tuple[str, str], int]

    @classmethod
    def of(cls, votes: Votes) -> Chances:
        """Score the copies of a paper's votes."""
        best = Counter[tuple[str, str]]()
        for copy in votes.copies:
            for one in copy.combinations:
                for column in copy.columns:
                    for columns in ((column,), copy.columns_like(column)):
                        score = max(copy.scores(one, *columns).values(), default=0)
                        best["column", ",".join(columns)] = max(best["column", ",".join(columns)], score)
                for group in copy.rounding_groups:
                    best["rounding", group] = max(best["rounding", group], copy.score(one, group))
                for family in copy.families:
                    best["family", family] = max(best["family", family], copy.score(one, family=family))
        return cls(votes.copies, best)

    def luck(self, best: Combination, column: str, misses: VoteSet) -> int:
        """Return how many of some votes any convention explains at most where their digits are shifted."""
        each = (copy.followers(best, (column,)).values() for copy in self.copies)
        return max(((votes & misses).bit_count() for found in each for votes in found), default=0)


def judge(votes: Votes, chances: Chances) -> Hypothesis:
    """Return the best hypothesis, with how sure each of its choices is."""
    best = votes.best
    return Hypothesis(
        roundings={group: _rounding_group(votes, best, group, chances) for group in votes.rounding_groups},
        explained=votes.score(best),
        votes=len(votes.each),
        readings={family: _family_group(votes, best, family, chances) for family in votes.families},
        conventions={column: _column_group(votes, best, column, chances) for column in votes.columns},
    )


def passes(votes: Votes, chances: Chances, place: int, instead: Vote | None = None) -> bool:
    """Return whether a number, or another `instead` of it, follows under the hypothesis that all support.

    Where a choice is weak, any option will do. Only the groups of the cell are judged: a power tries twenty numbers in
    place of each, most of which follow under no options at all.
    """
    vote = instead or votes.each[place]
    if not follows(vote, votes.options):
        return False
    votes = votes.with_vote(place, instead) if instead is not None else votes
    best = votes.best
    readings = None if vote.family is None else _family_group(votes, best, vote.family, chances).allowed
    conventions = None if vote.fixed else _column_group(votes, best, vote.column, chances).allowed
    group = votes.options.rounding_group(vote.column)
    rules = votes.options.rules_of(group)
    if len(rules) > 1:
        rules = allowed_roundings(_rounding_group(votes, best, group, chances))
    intervals = [vote.printed.interval(rule) for rule in rules]
    return any(
        any(value in interval for interval in intervals)
        for (reading, convention), value in vote.values.items()
        if (readings is None or reading in readings) and (conventions is None or convention in conventions)
    )


def allowed_roundings(group: VoteGroup) -> tuple[Rounding, ...]:
    """Return the rounding rules that a cell may be judged under, the default first."""
    return tuple(Rounding(str(name)) for name in group.allowed)


def _rounding_group(votes: Votes, best: Combination, name: str, chances: Chances) -> VoteGroup:
    """Score the rounding rules on the votes of a group, each with the best readings and conventions for it."""
    roundings, columns = votes.options.rules_of(name), votes.rounding_groups[name]
    own = [vote for vote in votes.each if vote.column in columns]
    if len(roundings) == 1:
        return VoteGroup(name, roundings[0], len(own), {roundings[0]: votes.score(best, name)}, 0, Clarity.ONLY)

    def passing(rule: str | None) -> object:
        intervals = (vote.printed.interval(Rounding(str(rule))) for vote in own)
        return [
            any(value in interval for value in vote.by_reading.get(best.readings[vote.family], {}).values())
            for vote, interval in zip(own, intervals, strict=True)
        ]

    def differs(rule: str | None) -> bool:
        return passing(rule) != passing(best.rules[name])

    by_rule = votes.best_by_rule(name).items()
    found: dict[str | None, VoteSet] = {rule: votes.explained(one, name) for rule, one in by_rule}
    return _group(name, best.rules[name], len(own), found, differs, chances.best["rounding", name])


def _column_group(votes: Votes, best: Combination, column: str, chances: Chances) -> VoteGroup:
    """Judge a column by itself; if that is not clear, let the paper's columns of the same measure decide.

    They decide only if they are clear by four numbers or more, explain a number of this column, and no other convention
    explains more of it, or as much and more than by chance: such a column may be quoted from another source, or two.
    """
    alone = _convention_group(votes, best, (column,), chances)
    if alone.choice is not Clarity.WEAK:
        return alone
    paper = _convention_group(votes, best, votes.columns_like(column), chances)
    explained, rival = _with_best_rival(alone, paper.winner)
    explained_of_all, rival_of_all = _with_best_rival(paper, paper.winner)
    decided = paper.choice is Clarity.CLEAR and explained_of_all - rival_of_all >= LEAST_VOTES
    if decided and explained and (explained > rival or explained == rival <= alone.chance):
        return replace(alone, winner=paper.winner, choice=Clarity.SHARED)
    return alone


def _with_best_rival(group: VoteGroup, option: str | None) -> tuple[int, int]:
    """Return an option's score, and the best one of the others."""
    return group.scores[option], max((score for other, score in group.scores.items() if other != option), default=0)


def _convention_group(votes: Votes, best: Combination, columns: tuple[str, ...], chances: Chances) -> VoteGroup:
    choosing = [votes.choosing[column] for column in columns]
    found: dict[str | None, VoteSet] = {name: ids for name, ids in votes.followers(best, columns).items() if name}
    winner = max(found, key=lambda option: found[option].bit_count(), default=None)

    def differs(convention: str | None) -> bool:
        read = ((vote.values, best.readings[vote.family]) for some in choosing for vote in some)
        return any(
            values.get((reading, str(convention))) != values.get((reading, str(winner))) for values, reading in read
        )

    name = ",".join(columns)
    group = _group(name, winner, sum(map(len, choosing)), found, differs, chances.best["column", name])
    if len(columns) == 1 and group.choice is Clarity.WEAK and max(group.alone.values(), default=0) >= MIXED_FROM:
        misses = sum(1 << place for place, vote in enumerate(votes.each) if vote.column == name) & ~found[winner]
        if max(group.alone.values()) > chances.luck(best, name, misses):
            group = replace(group, choice=Clarity.MIXED)
    return group if votes.options.unproven.isdisjoint(map(str, group.allowed)) else replace(group, choice=Clarity.WEAK)


def _family_group(votes: Votes, best: Combination, family: str, chances: Chances) -> VoteGroup:
    """Score the readings on the family's cells, each with the best conventions for it."""
    own = [vote for vote in votes.each if vote.family == family]
    found: dict[str | None, VoteSet] = {
        reading: votes.explained(replace(best, readings={**best.readings, family: reading}), family=family)
        for reading in votes.options.readings
    }
    winner = best.readings[family]

    def differs(reading: str | None) -> bool:
        return any(vote.by_reading.get(reading) != vote.by_reading.get(winner) for vote in own)

    return _group(family, winner, len(own), found, differs, chances.best["family", family])


def _group(
    name: str,
    winner: str | None,
    votes: int,
    found: Mapping[str | None, VoteSet],
    differs: Callable[[str | None], bool],
    chance: int,
) -> VoteGroup:
    """Judge how sure the winner is by the votes `found` under each option; those that none `differs` in are one."""
    scores = {option: ids.bit_count() for option, ids in found.items()}
    others = [option for option in scores if option != winner and differs(option)]
    if not others:
        return VoteGroup(name, winner, votes, scores, chance, Clarity.ONLY)
    missed = Counter({option: (found[option] & ~found[winner]).bit_count() for option in others})
    alone = {option: count for option, count in missed.most_common() if count}
    beaten, most = max(scores[option] for option in others), max(missed.values())
    ahead = scores[winner] > max(beaten, chance) and most < (2 if votes < MANY_VOTES else 3)
    choice = Clarity.CLEAR if votes >= LEAST_VOTES and ahead else Clarity.WEAK
    return VoteGroup(name, winner, votes, scores, chance, choice, alone)


@dataclass(frozen=True)
class JudgedPaper:
    """The votes of a paper, and what follows from judging them together.

    `voters` are the cells that vote for others, by the ids of those.
    """

    votes: Votes
    chances: Chances
    voters: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, votes: Votes, voters: Mapping[str, str] | None = None) -> JudgedPaper:
        """Judge the votes of a paper."""
        return cls(votes, Chances.of(votes), voters or {})

    @cached_property
    def hypothesis(self) -> Hypothesis:
        """What the votes support together."""
        return judge(self.votes, self.chances)

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each vote, by the id of its cell."""
        return {vote.id: place for place, vote in enumerate(self.votes.each)}

    @cached_property
    def powers(self) -> dict[str, Power]:
        """The power of each vote, by the id of its cell."""
        return {cell: self._power_at(place) for cell, place in self.places.items()}

    def _power_at(self, place: int) -> Power:
        """Try every wrong number within ten last digits in place of a vote's, with the declared options chosen anew."""
        vote = self.votes.each[place]
        wrong = {n: vote.shifted(n) for n in OFFSETS if vote.shifted(n).printed.value > 0}
        caught = {n: not passes(self.votes, self.chances, place, one) for n, one in wrong.items()}
        near = [caught[n] for n in (-1, 1) if n in caught]
        one = Caught(caught=sum(near), tried=len(near))
        return Power(one=one, ten=Caught(caught=sum(caught.values()), tried=len(caught)))

    @cached_property
    def by_chance(self) -> dict[str, Fraction]:
        """How many numbers of each column pass on average, over copies in which every number is wrong."""
        found = dict.fromkeys(self.votes.columns, Fraction(0))
        for copy in self.votes.copies:
            for place, vote in enumerate(copy.each):
                found[vote.column] += Fraction(passes(copy, self.chances, place), COPIES)
        return found

    @cached_property
    def passing(self) -> tuple[str, ...]:
        """The cells whose numbers pass."""
        return tuple(cell for cell, place in self.places.items() if passes(self.votes, self.chances, place))

    def record(self, fits: Mapping[str, FitScore]) -> PaperHypothesis:
        """Put on record what the votes support and what their passes are worth; `fits` are by fitted convention."""
        found = self.hypothesis
        paper, own = found.roundings.get(PAPER), [one for name, one in found.roundings.items() if name != PAPER]
        return PaperHypothesis(
            rounding=str(paper.winner) if paper is not None else str(self.votes.options.roundings[0]),
            roundings=None if paper is None or paper.choice is Clarity.ONLY else _score(paper),
            rounding_of=tuple(_score(one) for one in own),
            explained=found.explained,
            votes=found.votes,
            readings=tuple(_score(group) for group in found.readings.values()),
            columns=tuple(self._record_column(group, fits) for group in found.conventions.values()),
        )

    def _record_column(self, group: VoteGroup, fits: Mapping[str, FitScore]) -> ColumnScore:
        cells = [cell for cell in self.passing if self.votes.each[self.places[cell]].column == group.name]
        powers = [self.powers[cell] for cell in cells]
        by_chance = decimal_text(self.by_chance[group.name], 1)
        return ColumnScore(
            group=_score(group), passing=len(cells), by_chance=by_chance,
            power=add_powers(powers), fit=fits.get(str(group.winner)),
        )  # fmt: skip


def _score(group: VoteGroup) -> GroupScore:
    return GroupScore(
        name=group.name,
        winner=group.winner,
        votes=group.votes,
        scores={str(option): score for option, score in group.scores.items()},
        chance=group.chance,
        choice=group.choice.value,
        rival=group.rival,
        alone={str(option): count for option, count in group.alone.items()},
    )
