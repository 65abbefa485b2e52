"""How many cells the same search explains where there is nothing to find: in tables with shifted digits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256

from imlp_audit.solve.problem import Cell, Problem
from imlp_audit.solve.search import Rules, Score, best_score

TABLES = 10
_BUDGET = 1_000_000  # for each table: what remains open after that is told as a bound


def null_scores(
    problem: Problem, rules: Rules = Rules.TOGETHER, *, tables: int = TABLES, budget: int = _BUDGET
) -> Iterator[Score]:
    """Yield the best score of the same search on tables in which the last digits of all cells are shifted."""
    for number in range(tables):
        yield best_score(shifted(problem, number), rules, budget=budget)


def shifted(problem: Problem, number: int) -> Problem:
    """Return the problem of the same models and other numbers; equal arguments give equal numbers.

    Every cell is moved up or down by 2 to 9 units of its last digit: by less, it could still be right by another
    rounding rule.
    """
    return replace(problem, cells=tuple(_shifted(cell, number) for cell in problem.cells))


def _shifted(cell: Cell, number: int) -> Cell:
    drawn = int.from_bytes(sha256(f"{number}/{cell.id}".encode()).digest()[:4], "big")
    units = (2 + drawn // 2 % 8) * (1 if drawn % 2 else -1)
    move = int(units * cell.step)
    return replace(cell, ranges={rule: (least + move, most + move) for rule, (least, most) in cell.ranges.items()})
