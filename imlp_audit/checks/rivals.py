"""What speaks for another option than the one chosen: numbers that follow under it alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from imlp_audit.checks.hypotheses import VoteGroup
from imlp_audit.checks.tally import Combination, Tally, Vote, first_best


def rivals_of_rounding(tally: Tally, group: VoteGroup) -> dict[str, int]:
    """Count the numbers that follow under each other rounding rule and not under the best one.

    Each rule has the best readings and conventions for it.
    """
    votes = [vote for vote in tally.votes if vote.column in tally.rounding_groups[group.name]]
    every = tally.best_by_rule(group.name).items()
    return _count({str(rule): _followers(tally, one, votes) for rule, one in every}, group)


def rivals_of_reading(tally: Tally, group: VoteGroup) -> dict[str, int]:
    """Count a family's numbers that follow under each other reading and not under the best one.

    Each reading has the best convention for each column.
    """
    votes = [vote for vote in tally.votes if vote.family == group.name]
    best = tally.best
    found = {
        str(reading): _followers(tally, replace(best, readings={**best.readings, group.name: reading}), votes)
        for reading in tally.options.readings
    }
    return _count(found, group)


def rivals_of_convention(tally: Tally, group: VoteGroup) -> dict[str, int]:
    """Count a column's numbers that follow under each other convention and not under the best one."""
    votes = tally.choosing[group.name]
    found = {str(option): _followers(tally, tally.best, votes, str(option)) for option in group.scores}
    return _count(found, group)


def _followers(tally: Tally, one: Combination, votes: Sequence[Vote], convention: str | None = None) -> set[str]:
    """Return the votes that follow under a combination, by a convention or else by the best one for each column."""
    found = set[str]()
    for vote in votes:
        values = vote.by_reading.get(one.readings[vote.family], {})
        interval = vote.printed.interval(tally.rule(one, vote.column))
        chosen = convention or first_best(tally.scores(one, vote.column))
        if any(value in interval for name, value in values.items() if vote.fixed or name == chosen):
            found.add(vote.id)
    return found


def _count(followers: Mapping[str, set[str]], group: VoteGroup) -> dict[str, int]:
    """Return how many follow under each other option alone, without the options of which none do."""
    explained = followers[str(group.winner)]
    return {name: len(ids - explained) for name, ids in followers.items() if ids - explained}
