"""The power of a pass: how many wrong numbers would not have passed in its place, and how many pass by chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from imlp_audit.checks.hypotheses import Chances, Clarity, Hypothesis, VoteGroup, judge, passes
from imlp_audit.checks.tally import COPIES, OFFSETS, PAPER, Tally
from imlp_audit.numbers.interval import decimal_text
from imlp_audit.records.hypothesis import Caught, ColumnScore, FitScore, GroupScore, PaperHypothesis, Power, add_powers


@dataclass(frozen=True)
class Judged:
    """The votes of a paper, and what follows from judging them together.

    `voters` are the cells that vote for others, by the ids of those.
    """

    tally: Tally
    chances: Chances
    voters: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, tally: Tally, voters: Mapping[str, str] | None = None) -> Judged:
        """Judge the votes of a paper."""
        return cls(tally, Chances.of(tally), voters or {})

    @cached_property
    def hypothesis(self) -> Hypothesis:
        """What the votes support together."""
        return judge(self.tally, self.chances)

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each vote, by the id of its cell."""
        return {vote.id: place for place, vote in enumerate(self.tally.votes)}

    @cached_property
    def powers(self) -> dict[str, Power]:
        """The power of each vote, by the id of its cell."""
        return {cell: self._power_at(place) for cell, place in self.places.items()}

    def _power_at(self, place: int) -> Power:
        """Try every wrong number within ten last digits in place of a vote's.

        The other numbers stay, and the declared options are chosen anew. Numbers that are not positive are left out.
        """
        vote = self.tally.votes[place]
        wrong = {n: vote.shifted(n) for n in OFFSETS if vote.shifted(n).printed.value > 0}
        caught = {n: not passes(self.tally, self.chances, place, one) for n, one in wrong.items()}
        near = [caught[n] for n in (-1, 1) if n in caught]
        one = Caught(caught=sum(near), tried=len(near))
        return Power(one=one, ten=Caught(caught=sum(caught.values()), tried=len(caught)))

    @cached_property
    def by_chance(self) -> dict[str, Fraction]:
        """How many numbers of each column pass on average, over copies in which every number is wrong."""
        found = dict.fromkeys(self.tally.columns, Fraction(0))
        for copy in self.tally.copies:
            for place, vote in enumerate(copy.votes):
                found[vote.column] += Fraction(passes(copy, self.chances, place), COPIES)
        return found

    @cached_property
    def passing(self) -> tuple[str, ...]:
        """The cells whose numbers pass."""
        return tuple(cell for cell, place in self.places.items() if passes(self.tally, self.chances, place))

    def record(self, fits: Mapping[str, FitScore]) -> PaperHypothesis:
        """Put on record what the votes support and what their passes are worth; `fits` are by fitted convention."""
        found = self.hypothesis
        paper, own = found.roundings.get(PAPER), [one for name, one in found.roundings.items() if name != PAPER]
        return PaperHypothesis(
            rounding=str(paper.winner) if paper is not None else str(self.tally.options.roundings[0]),
            roundings=None if paper is None or paper.choice is Clarity.ONLY else _score(paper),
            rounding_of=tuple(_score(one) for one in own),
            explained=found.explained,
            votes=found.votes,
            readings=tuple(_score(group) for group in found.readings.values()),
            columns=tuple(self._record_column(group, fits) for group in found.conventions.values()),
        )

    def _record_column(self, group: VoteGroup, fits: Mapping[str, FitScore]) -> ColumnScore:
        cells = [cell for cell in self.passing if self.tally.votes[self.places[cell]].column == group.name]
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
