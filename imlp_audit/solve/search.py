"""The search for the readings, the counters and the rounding rules that explain the most printed numbers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from imlp_audit.solve.answer import SearchAnswer
from imlp_audit.solve.bounds import RoundingSearch, search_of
from imlp_audit.solve.branch_and_bound import explore
from imlp_audit.solve.order import first_solutions
from imlp_audit.solve.parts import Layout, lay_out
from imlp_audit.solve.problem import SearchProblem
from imlp_audit.solve.ties import Collected, find_axes, find_contradictions, find_disputed, find_weights

BUDGET = 50_000_000
"""Pairs of a box of weights and a reading that a search may look at."""


class Rules(StrEnum):
    """Whether sizes and FLOPs share one rounding rule, or each column has its own."""

    TOGETHER = "together"
    BY_COLUMN = "by_column"


@dataclass(frozen=True)
class Score:
    """The best score found, and the best score possible: the same if the search was exhaustive.

    `found` is -1 where nothing as good as was asked for was found.
    """

    found: int
    at_most: int


def solve(
    problem: SearchProblem, rules: Rules = Rules.TOGETHER, *, budget: int = BUDGET, most: int = 10
) -> SearchAnswer:
    """Return the best solutions over all readings, parameter conventions, rounding rules and weights.

    The answer is exact, with all ties, unless it says that the budget ended it. `most` is how many solutions are
    written out in order. Raises SolverError for a problem with nothing to explain, or that does not fit together.
    """
    layout = lay_out(problem)
    explored = explore(_runs(layout, rules), 0, budget, ties=True)
    collected = Collected(layout)
    for run, boxes in explored.found:
        collected.add(run, boxes, explored.score)
    contradicted = tuple(find_contradictions(problem, collected.ties, collected.near))
    never = {one.cell for one in contradicted}
    return SearchAnswer(
        score=explored.score,
        of=len(problem.cells),
        count=sum(one.count for one in collected.ties),
        solutions=first_solutions(problem, collected.ties, most),
        ties=tuple(collected.ties),
        axes=tuple(find_axes(problem, collected.ties)),
        weights=tuple(find_weights(problem, collected.ties)),
        contradicted=contradicted,
        disputed=tuple(cell for cell in find_disputed(problem, collected.ties, collected.missed) if cell not in never),
        exhaustive=not explored.cut,
        bound=explored.bound,
        looked=explored.looked,
    )


def best_score(problem: SearchProblem, rules: Rules = Rules.TOGETHER, *, floor: int = 0, budget: int = BUDGET) -> Score:
    """Return only the best score, if it is at least `floor`; this does not collect ties."""
    explored = explore(_runs(lay_out(problem), rules), floor, budget, ties=False)
    return Score(explored.score, explored.bound)


def _runs(layout: Layout, rules: Rules) -> list[RoundingSearch]:
    """Return a run for each rounding of FLOPs, or one where none are printed, with the settings that go with it."""
    settings = list(enumerate(layout.settings))
    if not any(len(part.flops) for part in layout.parts):
        return [search_of(layout, None, [place for place, _ in settings])]
    return [
        search_of(
            layout, rounding, [p for p, s in settings if rules is Rules.BY_COLUMN or s.rounding in (None, rounding)]
        )
        for rounding in layout.problem.roundings
    ]
