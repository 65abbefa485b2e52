"""How much a pass says: each cell judged alone by any declared option, and all judged together as `verify` does.

Tries every wrong number within ten last digits in place of each passing number of every paper, and prints the share
that would pass, by distance:

    python benchmarks/power.py [SPEC ...]
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from imlp_audit.checks.context import Context
from imlp_audit.checks.hypothesis_clarity import JudgedPaper, passes
from imlp_audit.checks.judged_under import with_hypotheses
from imlp_audit.checks.run import models_needed
from imlp_audit.checks.votes import FARTHEST, Votes
from imlp_audit.count.build_and_count import measure_models
from imlp_audit.spec.load import load, select_checks

DISTANCES = (1, 2, 3, 5, 10)
MEASURES = ("params", "flops")
Passing = Callable[[JudgedPaper, Votes, int], bool]


def passes_alone(_: JudgedPaper, votes: Votes, place: int) -> bool:
    """Return whether any declared reading, convention and rounding rule fits a cell."""
    vote = votes.each[place]
    return any(
        value in vote.printed.interval(rule) for rule in votes.options.roundings for value in vote.values.values()
    )


def passes_together(judged: JudgedPaper, votes: Votes, place: int) -> bool:
    """Return whether a cell follows under the hypothesis that all numbers support, this one included."""
    return passes(votes, judged.chances, place)


def count_passing(judged: JudgedPaper, measure: str, passing: Passing) -> tuple[int, Counter[int], Counter[str]]:
    """Return how many cells pass, wrong numbers that pass by distance, and those one digit away by column."""
    votes, wrong, near = judged.votes, Counter[int](), Counter[str]()
    columns = {vote.column for vote in votes.each if vote.column.endswith(measure)}
    places = [n for n, vote in enumerate(votes.each) if vote.column in columns and passing(judged, votes, n)]
    for place in places:
        vote = votes.each[place]
        for digits in range(1, FARTHEST + 1):
            for sign in (-1, 1):
                passed = passing(judged, votes.with_vote(place, vote.shifted(sign * digits)), place)
                wrong[digits] += passed
                near[vote.column] += passed and digits == 1
    return len(places), wrong, +near


def show_shares(name: str, cells: int, wrong: Counter[int]) -> None:
    """Print the share of wrong numbers that pass, by distance."""
    shares = "  ".join(f"+-{n}: {wrong[n] / (2 * cells):6.1%}" for n in DISTANCES)
    print(f"  {name:34} ({cells:3} cells)  {shares}")


def show_all(papers: Iterable[tuple[str, JudgedPaper]]) -> None:
    """Print the shares for each paper and for all."""
    every = list(papers)
    for measure in MEASURES:
        print(f"{measure}: wrong numbers that pass in place of passing ones")
        for name, passing in (("alone", passes_alone), ("together", passes_together)):
            total, sums = 0, Counter[int]()
            for paper, judged in every:
                cells, wrong, near = count_passing(judged, measure, passing)
                total, sums = total + cells, sums + wrong
                if cells:
                    show_shares(f"{paper}, {name}", cells, wrong)
                if near and name == "together":
                    print(f"    one digit away, by column: {dict(near)}")
            if total:
                show_shares(f"all papers, {name}", total, sums)


def main(arguments: Sequence[str]) -> None:
    """Measure the models of the papers and print the shares."""
    selection = load(arguments)
    plans = select_checks(selection, skip=["*/equations/*"])
    facts = dict(measure_models(models_needed(plans, Context({})), lambda name: None))
    show_all(with_hypotheses(Context(facts), selection.papers).judged.items())


if __name__ == "__main__":
    main(sys.argv[1:])
