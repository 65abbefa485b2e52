"""How much a pass says: judged alone, as `verify` does, and together, under one hypothesis for the paper.

For each paper it prints the hypothesis that its counted numbers support together, and of the wrong numbers within ten
last digits of each passing number the share that would pass in its place, both ways:

    python benchmarks/power.py [SPEC ...]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from imlp_audit.checks.context import Context
from imlp_audit.checks.hypotheses import Tally, Vote, chances_of, judge, passes
from imlp_audit.checks.run import models_needed
from imlp_audit.checks.votes import tally_of
from imlp_audit.measure.models import measure_models
from imlp_audit.numbers.printed import Rounding
from imlp_audit.spec.library import load, select_checks

DISTANCES = (1, 2, 3, 5, 10)
Passing = Callable[[Tally, int], bool]


def passes_alone(vote: Vote, roundings: Sequence[Rounding]) -> bool:
    """Return whether any declared reading, convention and rounding rule fits the cell."""
    return any(value in vote.printed.interval(rule) for rule in roundings for value in vote.values.values())


def shares(tally: Tally, places: Sequence[int], passing: Passing) -> list[float]:
    """Return the share of wrong numbers at each distance that pass in place of passing ones."""
    return [
        sum(
            passing(tally.with_vote(place, tally.votes[place].shifted(sign * digits)), place)
            for place in places
            for sign in (-1, 1)
        )
        / (2 * len(places))
        for digits in DISTANCES
    ]


def show(paper: str, tally: Tally) -> None:
    """Print what one paper's numbers support, and the power of its passes."""
    chances = chances_of(tally)
    found = judge(tally, chances)
    print(f"{paper}: {found.explained} of {found.votes} numbers are explained together, rounded {found.rounding}")
    for group in (*found.readings.values(), *(one for one in found.conventions.values() if one.votes)):
        scores = ", ".join(f"{name} {score}" for name, score in group.scores.items())
        print(f"  {group.name}: {group.winner} ({group.choice}; {scores} of {group.votes}; by chance {group.chance})")

    def alone(changed: Tally, place: int) -> bool:
        return passes_alone(changed.votes[place], changed.options.roundings)

    def together(changed: Tally, place: int) -> bool:
        return passes(judge(changed, chances), changed.votes[place])

    for measure in ("params", "flops"):
        for name, passing in (("alone", alone), ("together", together)):
            places = [
                place
                for place, vote in enumerate(tally.votes)
                if vote.column.endswith(measure) and passing(tally, place)
            ]
            if places:
                found_shares = shares(tally, places, passing)
                line = "  ".join(f"+-{n}: {share:6.1%}" for n, share in zip(DISTANCES, found_shares, strict=True))
                print(f"  wrong {measure} that pass, judged {name:8} ({len(places)} cells)  {line}")


def main(arguments: Sequence[str]) -> None:
    """Measure the models of the papers and show each paper."""
    selection = load(arguments)
    plans = select_checks(selection, skip=["*/equations/*"])
    facts = measure_models(models_needed(plans, Context({})), lambda name: None)
    for paper in selection.papers:
        tally = tally_of(paper, Context(facts))
        if tally.votes:
            show(paper.id, tally)


if __name__ == "__main__":
    main(sys.argv[1:])
