"""Whether the numbers say that some families of models were built by another reading than the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

from imlp_audit.solve.problem import Problem, Row
from imlp_audit.solve.search import BUDGET, Rules, Score, best_score


@dataclass(frozen=True)
class Departure:
    """Families whose readings may each differ from the rest's, and the best score then."""

    families: tuple[str, ...]
    score: Score


def by_family(
    problem: Problem, score: int, rules: Rules = Rules.TOGETHER, *, budget: int = BUDGET
) -> tuple[Departure, ...]:
    """Return the least sets of families that have to differ for more than `score` cells to be explained.

    All sets of one size are tried before any of the next, and the search ends with the first size that helps; it is
    empty where none does. Where all families but one differ, so does every one: larger sets say nothing more. A
    set of which the budget left open whether it helps is told too: its score is a range.
    """
    known = (problem.families.get(row.id) for row in problem.rows if row.group)
    names = tuple(dict.fromkeys(name for name in known if name is not None))
    for size in range(1, len(names) if score < len(problem.cells) else 1):
        tried = [
            Departure(apart, best_score(differing(problem, apart), rules, floor=score + 1, budget=budget))
            for apart in combinations(names, size)
        ]
        helped = tuple(one for one in tried if one.score.at_most > score)
        if helped:
            return helped
    return ()


def differing(problem: Problem, families: tuple[str, ...]) -> Problem:
    """Return the problem in which each of some families takes a reading of its own."""

    def group(row: Row) -> str:
        family = problem.families.get(row.id, "")
        return f"{row.group}@{family}" if row.group and family in families else row.group

    rows = tuple(replace(row, group=group(row)) for row in problem.rows)
    spaces = {row.group: problem.spaces[row.group.partition("@")[0]] for row in rows if row.group}
    named = {
        name: {group: at[group.partition("@")[0]] for group in spaces if group.partition("@")[0] in at}
        for name, at in problem.named.items()
    }
    return replace(problem, rows=rows, spaces=spaces, named=named)
