"""The search for the readings, the counting and the rounding that explain most printed numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from imlp_audit.errors import SolverError
from imlp_audit.printed import Rounding
from imlp_audit.solve.answer import Answer
from imlp_audit.solve.bounds import run_of
from imlp_audit.solve.explore import Found, explore
from imlp_audit.solve.order import first_solutions
from imlp_audit.solve.parts import Layout, lay_out
from imlp_audit.solve.pinned import axes_of, contradictions, weights_of
from imlp_audit.solve.problem import Problem
from imlp_audit.solve.ties import Collected

BUDGET = 100_000
"""Boxes of weights that a search may look at."""


class Rules(StrEnum):
    """Whether sizes and FLOPs are rounded by one rule, or each column by one of its own."""

    TOGETHER = "together"
    BY_COLUMN = "by_column"


@dataclass(frozen=True)
class Score:
    """The most cells that any solution was found to explain, and the most that is possible: the same if all was seen."""

    found: int
    at_most: int


def solve(problem: Problem, rules: Rules = Rules.TOGETHER, *, budget: int = BUDGET, most: int = 10) -> Answer:
    """Return the best solutions over all readings, parameter conventions, rounding rules and weights.

    The answer is exact, with all ties, unless it says that the budget ended it. `most` is how many solutions are
    written out in order. Raises SolverError for a problem with nothing to explain, or of which no solution at all
    was found within the budget.
    """
    layout = lay_out(problem)
    runs = list(_runs(layout, rules, budget, ties=True))
    score = max(found.score for found in runs)
    collected = Collected(layout)
    for found in runs:
        if found.score == score:
            collected.add(found)
    if not collected.ties:
        raise SolverError(_too_large(problem, budget))
    bound = max(found.bound for found in runs)
    return Answer(
        score=score,
        of=len(problem.cells),
        count=sum(one.count for one in collected.ties),
        solutions=first_solutions(problem, collected.ties, most),
        ties=tuple(collected.ties),
        axes=tuple(axes_of(problem, collected.ties)),
        weights=tuple(weights_of(problem, collected.ties)),
        contradicted=tuple(contradictions(problem, collected.ties, collected.near)),
        exhaustive=not any(found.cut for found in runs),
        bound=bound,
        nodes=sum(found.nodes for found in runs),
    )


def best_score(problem: Problem, rules: Rules = Rules.TOGETHER, *, floor: int = 0, budget: int = BUDGET) -> Score:
    """Return the best score alone, if it is at least `floor`; ties cost nothing then."""
    runs = list(_runs(lay_out(problem), rules, budget, floor, ties=False))
    return Score(max(found.score for found in runs), max(found.bound for found in runs))


def _runs(layout: Layout, rules: Rules, budget: int, floor: int = 0, *, ties: bool) -> Iterator[Found]:
    """Search under each rounding of FLOPs; what one explains, the next must reach (exceed, without `ties`).

    Each may look at its share of the boxes that are left.
    """
    roundings = list(_roundings(layout, rules))
    for done, (rounding, settings) in enumerate(roundings):
        share = max(0, budget) // (len(roundings) - done)
        found = explore(run_of(layout, rounding, settings), floor, share, ties=ties)
        budget -= found.nodes
        floor = max(floor, found.score + (not ties))
        yield found


def _roundings(layout: Layout, rules: Rules) -> Iterator[tuple[Rounding | None, list[int]]]:
    """Yield each rounding of FLOPs with the settings that go with it; one None where no FLOPs are printed."""
    settings = list(enumerate(layout.settings))
    if not any(len(part.flops) for part in layout.parts):
        yield None, [place for place, _ in settings]
        return
    for rounding in layout.problem.roundings:
        together = [p for p, s in settings if rules is Rules.BY_COLUMN or s.rounding in (None, rounding)]
        yield rounding, together


def _too_large(problem: Problem, budget: int) -> str:
    readings = max((space.shape for space in problem.spaces.values()), default=())
    return (
        f"the search is too large for {budget} boxes of weights: {len(problem.classes)} classes of work, readings of "
        f"{readings}; select fewer tables, tie the norms, or raise the budget"
    )
