"""What a score is worth: the same search on tables with shifted digits, and with families of models apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import combinations

from imlp_audit.solve.problem import Cell, CountedRow, SearchProblem
from imlp_audit.solve.search import BUDGET, Rules, Score, best_score

TABLES = 10
_NULL_BUDGET = 1_000_000  # for each table: what remains open after that is reported as a bound


def null_scores(
    problem: SearchProblem, rules: Rules = Rules.TOGETHER, *, tables: int = TABLES, budget: int = _NULL_BUDGET
) -> Iterator[Score]:
    """Yield the best score of the same search on tables with the last digits of all cells shifted."""
    for number in range(tables):
        yield best_score(shift_digits(problem, number), rules, budget=budget)


def shift_digits(problem: SearchProblem, number: int) -> SearchProblem:
    """Return the problem of the same models and other numbers; equal arguments give equal numbers.

    Every cell is moved up or down by 2 to 9 units of its last digit: by less, it could still be right by another
    rounding rule.
    """
    return replace(problem, cells=tuple(_shift_cell(cell, number) for cell in problem.cells))


def _shift_cell(cell: Cell, number: int) -> Cell:
    drawn = int.from_bytes(sha256(f"{number}/{cell.id}".encode()).digest()[:4], "big")
    units = (2 + drawn // 2 % 8) * (1 if drawn % 2 else -1)
    move = int(units * cell.step)
    return replace(cell, ranges={rule: (least + move, most + move) for rule, (least, most) in cell.ranges.items()})


@dataclass(frozen=True)
class Departure:
    """Families that may each have a reading of their own, and the best score then."""

    families: tuple[str, ...]
    score: Score


def by_family(
    problem: SearchProblem, score: int, rules: Rules = Rules.TOGETHER, *, budget: int = BUDGET
) -> tuple[Departure, ...]:
    """Return the least sets of families that have to differ for more than `score` cells to be explained.

    All sets of one size are tried before any of the next, and the search ends with the first size that helps; it is
    empty where none does. Where all families but one differ, so does every one: larger sets say nothing more. A
    set that the budget left undecided is reported too: its score is a range.
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


def differing(problem: SearchProblem, families: tuple[str, ...]) -> SearchProblem:
    """Return the problem in which each of some families takes a reading of its own."""

    def group(row: CountedRow) -> str:
        family = problem.families.get(row.id, "")
        return f"{row.group}@{family}" if row.group and family in families else row.group

    rows = tuple(replace(row, group=group(row)) for row in problem.rows)
    spaces = {row.group: problem.spaces[row.group.partition("@")[0]] for row in rows if row.group}
    named = {
        name: {group: at[group.partition("@")[0]] for group in spaces if group.partition("@")[0] in at}
        for name, at in problem.named.items()
    }
    return replace(problem, rows=rows, spaces=spaces, named=named)
