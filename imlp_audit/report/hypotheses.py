"""What a paper's counted numbers were judged under, and how much their passes say, in words."""

from __future__ import annotations

from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import Caught, Power
from imlp_audit.records.result import ColumnScore, FitScore, GroupScore, PaperHypothesis

_CHOICES = {
    "only": "the options give the same values",
    "clear": "a clear choice",
    "mixed": "two counters in one column",
    "shared": "as in the paper's other tables",
    "weak": "not a clear choice, so each number was judged alone",
}


def describe_group(group: GroupScore) -> str:
    """Return the chosen option with its score, those of the others, and how sure the choice is."""
    others = ", ".join(f"{name} {score}" for name, score in group.scores.items() if name != group.winner)
    best = f"{group.winner}, which explains {group.scores.get(str(group.winner), 0)} of {group.votes}"
    return f"{best}{f' ({others})' if others else ''}{f', {_CHOICES[group.choice]}{_rival(group)}' if others else ''}"


def _rival(group: GroupScore) -> str:
    """Name the second counter of a mixed column, and what settles which row has which."""
    if group.rival is None:
        return ""
    alone = f"{group.rival} explains {count_of(group.alone[group.rival], 'number')} that {group.winner} does not"
    return f": {alone}; `counted_by` in a row settles which of them made its number"


def describe_power(power: Power) -> str:
    """Return how many of the wrong numbers that were tried would not have passed."""
    return (
        f"{_of(power.ten)} wrong numbers within ten last digits would not have passed, {_of(power.one)} one digit away"
    )


def _of(part: Caught) -> str:
    return f"{part.caught} of {part.tried}"


def describe_column(score: ColumnScore) -> str:
    """Return a column's convention with its score, and what its passes are worth."""
    worth = describe_power(score.power) if score.power.one.tried else ""
    passing = f"{score.passing} of its numbers {'passes' if score.passing == 1 else 'pass'}"
    chance = f"{passing}, {score.by_chance} would pass by chance"
    fit = f"its weights were fitted: {describe_fit(score.fit)}" if score.fit is not None else ""
    group = describe_group(score.group) if score.group.votes else "none of its numbers takes part in the choice"
    return "; ".join(part for part in (group, fit, chance, worth) if part)


def describe_fit(fit: FitScore) -> str:
    """Return what a search explained, beside what it explains by chance."""
    return f"the search explained {fit.explained} of {fit.of} numbers, by chance it explains at most {fit.by_chance}"


def write_chance(group: GroupScore, fit: FitScore | None) -> str:
    """Return the best score of luck: of the search that fitted the winner, which had more to choose from, if one did.

    A search may be over more numbers than the group's.
    """
    if fit is None:
        return str(group.chance)
    return f"{fit.by_chance} of {fit.of}" if fit.of != group.votes else str(fit.by_chance)


def group_of_column(hypothesis: PaperHypothesis, column: str) -> ColumnScore | None:
    """Return the score of a column, which is named table/column."""
    return next((score for score in hypothesis.columns if score.group.name == column), None)
