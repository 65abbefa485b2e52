"""Problems small enough to try everything, and everything tried: what the search has to agree with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import strategies as st

from imlp_audit.numbers.printed import Rounding
from imlp_audit.solve.problem import Cell, CountedRow, Kind, SearchAnswer, SearchProblem, Solution, Space

WEIGHTS = (0, 1, 3)
KINDS: tuple[Kind, ...] = ("parameters", "flops")
SPACES = {
    "imlp": Space((("bias", ("yes", "no")), ("norm", ("none", "layer", "batch")))),
    "text": Space((("tied", ("yes", "no")),)),
}
NAMED = {"released": {"imlp": 5}, "as_written": {"imlp": 1, "text": 1}}


@st.composite
def rows(draw: st.DrawFn, number: int) -> CountedRow:
    """Return a row of any group; some know no second convention, some are the same under every reading."""
    group = draw(st.sampled_from(["", "imlp", "text"]))
    readings = int(np.prod(SPACES[group].shape)) if group and draw(st.booleans()) else 1
    counts = st.lists(st.integers(0, 9), min_size=readings, max_size=readings)
    conventions = draw(st.sampled_from([("all",), ("all", "no_head")]))
    work = draw(st.lists(st.lists(st.integers(0, 9), min_size=4, max_size=4), min_size=readings, max_size=readings))
    doubled = [[a, 2 * a, b, c * d] for a, b, c, d in work for d in [draw(st.sampled_from([0, 1]))]]
    return CountedRow(
        f"paper/1/row{number}",
        group,
        {name: np.array(draw(counts), dtype=np.int64) for name in conventions},
        np.array(doubled, dtype=np.int64),
    )


@st.composite
def cells(draw: st.DrawFn, number: int, rows: int) -> Cell:
    """Return a cell of either kind, with a range under each of two rules."""
    kind: Kind = draw(st.sampled_from(KINDS))
    low, width = draw(st.integers(0, 40)), draw(st.integers(0, 5))
    low = low // 4 if kind == "parameters" else low
    ranges = {Rounding.HALF_UP: (low, low + width), Rounding.TRUNCATION: (low + 2, low + 2 + width)}
    return Cell(f"paper/1/cell{number}", draw(st.integers(0, rows - 1)), kind, ranges, Fraction(width + 1))


@st.composite
def problems(draw: st.DrawFn) -> SearchProblem:
    """Return a problem of a few rows, with proportional classes, one without work or one with negative work."""
    count = draw(st.integers(1, 4))
    drawn = tuple(draw(rows(number)) for number in range(count))
    classes: tuple[str, ...] = ("linear", "conv", "norm", "pool")
    if draw(st.booleans()):
        drawn = tuple(CountedRow(r.id, r.group, r.parameters, np.hstack([r.work, r.work[:, :1] - 4])) for r in drawn)
        classes = (*classes, "excess")
    return SearchProblem(
        rows=drawn,
        cells=tuple(draw(cells(number, count)) for number in range(draw(st.integers(1, 7)))),
        spaces=SPACES,
        classes=classes,
        named=draw(st.sampled_from([{}, NAMED])),
        text=draw(st.sampled_from([None, "as_written"])),
        allowed=dict.fromkeys(classes, WEIGHTS),
    )


@dataclass(frozen=True)
class Candidate:
    """One combination of all that is searched, and the value it gives each cell, None where it gives none."""

    readings: tuple[tuple[str, int], ...]
    convention: str | None
    parameter_rounding: Rounding | None
    flops_rounding: Rounding | None
    weights: tuple[int, ...]
    values: tuple[int | None, ...]

    def hits(self, problem: SearchProblem) -> tuple[bool, ...]:
        """Say of each cell whether the value prints so."""
        return tuple(self._hits(cell, value) for cell, value in zip(problem.cells, self.values, strict=True))

    def _hits(self, cell: Cell, value: int | None) -> bool:
        rounding = self.flops_rounding if cell.kind == "flops" else self.parameter_rounding
        return (
            rounding is not None and value is not None and cell.ranges[rounding][0] <= value <= cell.ranges[rounding][1]
        )


def candidates(problem: SearchProblem) -> Iterator[Candidate]:
    """Yield every combination; weights that nothing depends on are 0, and those of negative work too."""
    groups = sorted({problem.rows[cell.row].group for cell in problem.cells} - {""})
    ranges = [range(int(np.prod(problem.spaces[group].shape))) for group in groups]
    for reading, (convention, sizes, flops), weights in product(
        product(*ranges), list(_counted(problem)), list(product(*_weights(problem)))
    ):
        at = dict(zip(groups, reading, strict=True))
        values = tuple(_value(problem, cell, at, convention, weights) for cell in problem.cells)
        yield Candidate(tuple(at.items()), convention, sizes, flops, weights, values)


def _counted(problem: SearchProblem) -> Iterator[tuple[str | None, Rounding | None, Rounding | None]]:
    kinds = {cell.kind for cell in problem.cells}
    conventions = problem.conventions if "parameters" in kinds else (None,)
    for convention, rule in product(conventions, problem.cells[0].ranges):
        yield convention, rule, rule


def _weights(problem: SearchProblem) -> Iterator[tuple[int, ...]]:
    for place in range(len(problem.classes)):
        work = [problem.rows[cell.row].work[:, place] for cell in problem.cells if cell.kind == "flops"]
        seen = any(column.any() for column in work) and not any((column < 0).any() for column in work)
        yield WEIGHTS if seen else (0,)


def _value(
    problem: SearchProblem, cell: Cell, at: dict[str, int], convention: str | None, weights: tuple[int, ...]
) -> int | None:
    row = problem.rows[cell.row]
    if cell.kind == "flops":
        work = row.work[at[row.group] if len(row.work) > 1 else 0].tolist()
        return sum(int(amount) * weight for amount, weight in zip(work, weights, strict=True))
    sizes = row.parameters.get(convention or "")
    return None if sizes is None else int(sizes[at[row.group] if len(sizes) > 1 else 0])


def expanded(problem: SearchProblem, answer: SearchAnswer) -> list[Solution]:
    """Return every solution of an answer's ties."""
    found = []
    for ties in answer.ties:
        for reading in product(*ties.readings.values()):
            for options in product(*(choice.options.tolist() for choice in ties.weights)):
                weights = [0] * len(problem.classes)
                for choice, option in zip(ties.weights, options, strict=True):
                    for place, weight in zip(choice.classes, option, strict=True):
                        weights[place] = weight
                found.append(
                    Solution(
                        dict(zip(ties.readings, map(int, reading), strict=True)),
                        ties.parameter_convention,
                        ties.parameter_rounding,
                        ties.flops_rounding,
                        tuple(weights),
                    )
                )
    return found
