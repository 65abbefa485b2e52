"""What one solution says about each cell: plainly, without a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from imlp_audit.solve.answer import Solution
from imlp_audit.solve.problem import Cell, Problem


def value_of(problem: Problem, cell: Cell, solution: Solution) -> int | None:
    """Return what a solution gives for a cell; None where it has no reading or no convention for the row."""
    row = problem.rows[cell.row]
    if row.group and row.group not in solution.readings:
        return None
    if cell.kind == "flops":
        work = row.work[_place(solution.readings, row.group, len(row.work))]
        return sum(int(amount) * weight for amount, weight in zip(work, solution.weights, strict=True))
    sizes = row.parameters.get(solution.parameter_convention or "")
    return None if sizes is None else int(sizes[_place(solution.readings, row.group, len(sizes))])


def explains(problem: Problem, cell: Cell, solution: Solution) -> bool:
    """Say whether what a solution gives for a cell prints as the cell does."""
    rounding = solution.flops_rounding if cell.kind == "flops" else solution.parameter_rounding
    value = value_of(problem, cell, solution)
    if rounding is None or value is None:
        return False
    least, most = cell.ranges[rounding]
    return least <= value <= most


def explained(problem: Problem, solution: Solution, cells: Sequence[Cell] | None = None) -> tuple[str, ...]:
    """Return the ids of the cells that a solution explains, of the problem's or of others."""
    return tuple(c.id for c in (problem.cells if cells is None else cells) if explains(problem, c, solution))


def _place(readings: Mapping[str, int], group: str, length: int) -> int:
    return readings[group] if group and length > 1 else 0
