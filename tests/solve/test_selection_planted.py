"""Planted truths: what a reading and a counter print for the real hosts of IMLP's Table 1, and one cell of noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np
import pytest

from imlp_audit.numbers.printed import Rounding
from imlp_audit.solve.answer import SearchAnswer, Ties
from imlp_audit.solve.compose import compose
from imlp_audit.solve.problem import Cell, SearchProblem
from imlp_audit.solve.search import solve
from imlp_audit.solve.selection import _LEFT_OUT
from imlp_audit.spec.library import load
from imlp_audit.spec.paper import rows_of
from tests.solve.table1 import printed_cell

pytestmark = pytest.mark.slow  # test_planted.py has faster ones

TRUTHS = 6  # of as many as one likes: seconds each


@dataclass(frozen=True)
class Truth:
    """What a table was printed by."""

    reading: int
    weights: tuple[int, ...]
    rounding: Rounding


@pytest.fixture(scope="module")
def table1() -> SearchProblem:
    """The DeiT, Swin and PoolFormer rows of Table 1, counted under every reading."""
    rows = [r for r in rows_of(load(["imlp"]).papers[0]) if r.table.value.table == "1" and "lvt" not in r.id]
    return replace(compose(rows).problem, allowed={str(one): (0,) for one in _LEFT_OUT})


def truths(problem: SearchProblem) -> list[Truth]:
    draw = Random(5)
    readings = int(np.prod(problem.spaces["imlp"].shape))
    return [
        Truth(
            draw.randrange(readings),
            tuple(draw.choice(problem.weights_of(name)) for name in problem.classes),
            draw.choice(problem.roundings),
        )
        for _ in range(TRUTHS)
    ]


def printed(problem: SearchProblem, truth: Truth) -> SearchProblem:
    """Return the problem with the numbers that a truth prints with two decimals, in M and in G."""
    return replace(problem, cells=tuple(_printed(problem, cell, truth) for cell in problem.cells))


def _printed(problem: SearchProblem, cell: Cell, truth: Truth) -> Cell:
    row = problem.rows[cell.row]
    at = truth.reading if row.group else 0
    value = row.parameters["all"][at] if cell.kind == "parameters" else row.work[at] @ np.array(truth.weights)
    return replace(printed_cell(cell.row, row.id, cell.kind, int(value), truth.rounding), id=cell.id)


def is_among(truth: Truth, ties: Sequence[Ties]) -> bool:
    """Say whether a truth is among ties; weights of classes without work are free."""
    return any(
        one.parameter_convention == "all"
        and one.parameter_rounding == one.flops_rounding == truth.rounding
        and truth.reading in one.readings["imlp"]
        and all(
            (choice.options == [truth.weights[place] for place in choice.classes]).all(axis=1).any()
            for choice in one.weights
        )
        for one in ties
    )


@pytest.fixture(scope="module")
def solved(table1: SearchProblem) -> list[tuple[Truth, SearchProblem, SearchAnswer]]:
    return [(truth, problem, solve(problem)) for truth in truths(table1) for problem in [printed(table1, truth)]]


def test_every_truth_is_among_the_best(solved: list[tuple[Truth, SearchProblem, SearchAnswer]]) -> None:
    for truth, problem, answer in solved:
        assert answer.score == answer.bound == len(problem.cells) == 44
        assert answer.contradicted == ()
        assert is_among(truth, answer.ties), truth


def test_nothing_is_pinned_to_a_wrong_value(solved: list[tuple[Truth, SearchProblem, SearchAnswer]]) -> None:
    for truth, problem, answer in solved:
        space = problem.spaces["imlp"]
        places = np.unravel_index(truth.reading, space.shape)
        assert [axis.axis for axis in answer.axes] == [name for name, _ in space.axes]
        for axis, place in zip(answer.axes, places, strict=True):
            assert axis.tried[int(place)] in axis.values, (truth, axis.axis)
        for weight, planted in zip(answer.weights, truth.weights, strict=True):
            assert planted in weight.values, (truth, weight.name)


@pytest.mark.parametrize("place", [0, 7, 20, 43])
def test_a_cell_out_of_reach_is_named(solved: list[tuple[Truth, SearchProblem, SearchAnswer]], place: int) -> None:
    truth, problem, _ = solved[0]
    cell = problem.cells[place]
    move = 1000 * int(cell.step)
    moved = replace(cell, ranges={rule: (low + move, high + move) for rule, (low, high) in cell.ranges.items()})
    answer = solve(replace(problem, cells=(*problem.cells[:place], moved, *problem.cells[place + 1 :])))
    assert answer.score == 43
    assert [one.cell for one in answer.contradicted] == [cell.id]
    assert is_among(truth, answer.ties)
    gap = answer.contradicted[0].gap
    assert gap is not None
    assert -1001 < gap < -900


@pytest.mark.parametrize("place", range(0, 44, 11))
def test_a_cell_moved_by_one_digit_is_named(table1: SearchProblem, place: int) -> None:
    """In the printed table: no best solution explains it, or some do that miss another cell, or all cells still fit."""
    cell = table1.cells[place]
    move = int(cell.step)
    moved = replace(cell, ranges={rule: (low + move, high + move) for rule, (low, high) in cell.ranges.items()})
    answer = solve(replace(table1, cells=(*table1.cells[:place], moved, *table1.cells[place + 1 :])), most=1)
    named = [*(one.cell for one in answer.contradicted), *answer.disputed]
    assert cell.id in named or answer.score == 44
    assert answer.score >= 43
