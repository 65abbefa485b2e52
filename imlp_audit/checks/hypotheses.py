"""Which hypothesis the counted numbers of a paper support when they are judged together.

A paper had one model and a column one counter. A hypothesis is one reading for each family of models, one convention
for each column and one rounding rule, or one for each measure that has rules of its own. The best one explains most
printed numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from imlp_audit.checks.tally import Combination, Tally, Vote, follows
from imlp_audit.numbers.printed import Rounding

LEAST_VOTES = 4


class Clarity(StrEnum):
    """How sure a choice among declared options is."""

    ONLY = "only"  # all options give these cells the same values: there is nothing to choose
    CLEAR = "clear"
    SHARED = "shared"  # a column that is not clear alone: the paper's columns of the measure are, and it agrees
    WEAK = "weak"  # too few numbers, a tie, or no better than numbers with shifted digits


@dataclass(frozen=True)
class VoteGroup:
    """Cells that share an option, the option chosen for them, and how many of them each option explains.

    `chance` is the best score that any option reaches on copies of the numbers with shifted digits.
    """

    name: str
    winner: str | None
    votes: int
    scores: Mapping[str | None, int]
    chance: int
    choice: Clarity

    @property
    def allowed(self) -> tuple[str | None, ...]:
        """The options that a cell of the group may be judged under: all, unless the choice is clear."""
        return (self.winner,) if self.choice in (Clarity.CLEAR, Clarity.SHARED) else tuple(self.scores)


@dataclass(frozen=True)
class Hypothesis:
    """The best combination: a group for each rounding rule, each family's reading and each column's convention."""

    roundings: Mapping[str, VoteGroup]
    explained: int
    votes: int
    readings: Mapping[str, VoteGroup]
    conventions: Mapping[str, VoteGroup]


Chances = Mapping[tuple[str, str], int]


def chances_of(tally: Tally) -> Chances:
    """Return the best score that each group reaches on a copy with shifted digits, under any option."""
    best = Counter[tuple[str, str]]()
    for copy in tally.copies:
        for one in copy.combinations:
            for column in copy.columns:
                for columns in ((column,), copy.columns_like(column)):
                    score = max(copy.scores(one, *columns).values(), default=0)
                    best["column", ",".join(columns)] = max(best["column", ",".join(columns)], score)
            for group in copy.rounding_groups:
                best["rounding", group] = max(best["rounding", group], copy.score(one, group))
            for family in copy.families:
                best["family", family] = max(best["family", family], copy.score_of_family(one, family))
    return best


def judge(tally: Tally, chances: Chances) -> Hypothesis:
    """Return the best hypothesis, with how sure each of its choices is."""
    best = tally.best
    return Hypothesis(
        roundings={group: _rounding_group(tally, best, group, chances) for group in tally.rounding_groups},
        explained=tally.score(best),
        votes=len(tally.votes),
        readings={family: _family_group(tally, best, family, chances) for family in tally.families},
        conventions={column: _column_group(tally, best, column, chances) for column in tally.columns},
    )


def passes(tally: Tally, chances: Chances, place: int, instead: Vote | None = None) -> bool:
    """Return whether a number, or another `instead` of it, follows under the hypothesis that all support.

    Where a choice is weak, any option will do. Only the groups of the cell are judged: a power tries twenty numbers in
    place of each, most of which follow under no options at all.
    """
    vote = instead or tally.votes[place]
    if not follows(vote, tally.options):
        return False
    tally = tally.with_vote(place, instead) if instead is not None else tally
    best = tally.best
    readings = None if vote.family is None else _family_group(tally, best, vote.family, chances).allowed
    conventions = None if vote.fixed else _column_group(tally, best, vote.column, chances).allowed
    group = tally.options.rounding_group(vote.column)
    rules = tally.options.rules_of(group)
    if len(rules) > 1:
        rules = allowed_roundings(_rounding_group(tally, best, group, chances))
    intervals = [vote.printed.interval(rule) for rule in rules]
    return any(
        any(value in interval for interval in intervals)
        for (reading, convention), value in vote.values.items()
        if (readings is None or reading in readings) and (conventions is None or convention in conventions)
    )


def allowed_roundings(group: VoteGroup) -> tuple[Rounding, ...]:
    """Return the rounding rules that a cell may be judged under, the default first."""
    return tuple(Rounding(str(name)) for name in group.allowed)


def _rounding_group(tally: Tally, best: Combination, name: str, chances: Chances) -> VoteGroup:
    """Score the rounding rules on the votes of a group, each with the best readings and conventions for it."""
    roundings, columns = tally.options.rules_of(name), tally.rounding_groups[name]
    votes = [vote for vote in tally.votes if vote.column in columns]
    if len(roundings) == 1:
        return VoteGroup(name, roundings[0], len(votes), {roundings[0]: tally.score(best, name)}, 0, Clarity.ONLY)

    def passing(rule: str | None) -> object:
        intervals = (vote.printed.interval(Rounding(str(rule))) for vote in votes)
        return [
            any(value in interval for value in vote.by_reading.get(best.readings[vote.family], {}).values())
            for vote, interval in zip(votes, intervals, strict=True)
        ]

    def differs(rule: str | None) -> bool:
        return passing(rule) != passing(best.rules[name])

    scores: dict[str | None, int] = {rule: tally.score(one, name) for rule, one in tally.best_by_rule(name).items()}
    return _group(name, best.rules[name], len(votes), scores, differs, chances["rounding", name])


def _column_group(tally: Tally, best: Combination, column: str, chances: Chances) -> VoteGroup:
    """Judge a column by itself; if that is not clear, let the paper's columns of the same measure decide.

    They decide only if they are clear by four numbers or more, and no other convention explains more of this column, or
    as much and more than by chance: such a column may be quoted from another source, or from two.
    """
    alone = _convention_group(tally, best, (column,), chances)
    if alone.choice is not Clarity.WEAK:
        return alone
    paper = _convention_group(tally, best, tally.columns_like(column), chances)
    explained, rival = _with_best_rival(alone, paper.winner)
    explained_of_all, rival_of_all = _with_best_rival(paper, paper.winner)
    decided = paper.choice is Clarity.CLEAR and explained_of_all - rival_of_all >= LEAST_VOTES
    if decided and (explained > rival or explained == rival <= alone.chance):
        return replace(alone, winner=paper.winner, choice=Clarity.SHARED)
    return alone


def _with_best_rival(group: VoteGroup, option: str | None) -> tuple[int, int]:
    """Return an option's score, and the best one of the others."""
    return group.scores[option], max((score for other, score in group.scores.items() if other != option), default=0)


def _convention_group(tally: Tally, best: Combination, columns: tuple[str, ...], chances: Chances) -> VoteGroup:
    votes = [tally.choosing[column] for column in columns]
    scores: dict[str | None, int] = dict(tally.scores(best, *columns).items())

    winner = max(scores, key=scores.__getitem__, default=None)

    def differs(convention: str | None) -> bool:
        read = ((vote.values, best.readings[vote.family]) for some in votes for vote in some)
        return any(
            values.get((reading, str(convention))) != values.get((reading, str(winner))) for values, reading in read
        )

    name = ",".join(columns)
    group = _group(name, winner, sum(map(len, votes)), scores, differs, chances["column", name])
    return replace(group, choice=Clarity.WEAK) if winner in tally.options.unproven else group


def _family_group(tally: Tally, best: Combination, family: str, chances: Chances) -> VoteGroup:
    """Score the readings on the family's cells, each with the best conventions for it."""
    votes = [vote for vote in tally.votes if vote.family == family]
    scores: dict[str | None, int] = {
        reading: tally.score_of_family(replace(best, readings={**best.readings, family: reading}), family)
        for reading in tally.options.readings
    }

    winner = best.readings[family]

    def differs(reading: str | None) -> bool:
        return any(vote.by_reading.get(reading) != vote.by_reading.get(winner) for vote in votes)

    return _group(family, winner, len(votes), scores, differs, chances["family", family])


def _group(
    name: str,
    winner: str | None,
    votes: int,
    scores: Mapping[str | None, int],
    differs: Callable[[str | None], bool],
    chance: int,
) -> VoteGroup:
    """Judge how sure the winner is. Options of which none `differs` from it in the values of the cells count as one."""
    others = [option for option in scores if option != winner and differs(option)]
    if not others:
        return VoteGroup(name, winner, votes, scores, chance, Clarity.ONLY)
    beaten = max(scores[option] for option in others)
    clear = votes >= LEAST_VOTES and scores[winner] > max(beaten, chance)
    return VoteGroup(name, winner, votes, scores, chance, Clarity.CLEAR if clear else Clarity.WEAK)
