"""The power of a pass: how many wrong numbers would not have passed in a cell's place."""

from __future__ import annotations

from dataclasses import dataclass

from imlp_audit.checks.hypotheses import FARTHEST, Chances, Choice, Hypothesis, Reading, Tally, Vote, judge


@dataclass(frozen=True)
class Power:
    """Of the wrong numbers one last digit away, and of all within ten, how many would not have passed."""

    of_one: int
    of_all: int
    within_one: int = 2
    within_all: int = 2 * FARTHEST


def power_of(tally: Tally, place: int, chances: Chances) -> Power:
    """Try every wrong number near a cell's, with the rest unchanged and the declared options chosen anew."""
    caught = {
        digits: not passes(judge(changed, chances), changed.votes[place])
        for digits in (*range(-FARTHEST, 0), *range(1, FARTHEST + 1))
        for changed in [tally.with_vote(place, tally.votes[place].shifted(digits))]
    }
    return Power(caught[-1] + caught[1], sum(caught.values()))


def passes(hypothesis: Hypothesis, vote: Vote) -> bool:
    """Return whether a cell follows under a hypothesis, or under any option where a choice is weak."""
    return fitting_options(hypothesis, vote) is not None


def fitting_options(hypothesis: Hypothesis, vote: Vote) -> tuple[Reading, str] | None:
    """Return the first reading and convention that a cell may be judged under and follows from."""
    interval = vote.printed.interval(hypothesis.rounding)
    readings = None if vote.family is None else hypothesis.readings[vote.family].allowed
    conventions = None if vote.fixed else hypothesis.conventions[vote.column].allowed
    for (reading, convention), value in vote.values.items():
        allowed = (readings is None or reading in readings) and (conventions is None or convention in conventions)
        if allowed and value in interval:
            return reading, convention
    return None


def is_weak(hypothesis: Hypothesis, vote: Vote) -> bool:
    """Return whether a pass of the cell may be luck: its reading or its convention is no clear choice."""
    groups = [] if vote.family is None else [hypothesis.readings[vote.family]]
    groups += [] if vote.fixed else [hypothesis.conventions[vote.column]]
    return any(group.choice is Choice.WEAK for group in groups)
