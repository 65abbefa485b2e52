"""Planted truths: tables that a reading and a counter print for the real hosts of IMLP's Table 1, and one cell of noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np
import pytest

from imlp_audit.printed import Rounding
from imlp_audit.solve.answer import Answer, Ties
from imlp_audit.solve.compose import compose
from imlp_audit.solve.problem import Cell, Problem
from imlp_audit.solve.search import solve
from imlp_audit.solving import _LEFT_OUT
from imlp_audit.spec.library import load
from imlp_audit.spec.references import rows_of
from tests.solve.table1 import printed_cell

TRUTHS = 50


@dataclass(frozen=True)
class Truth:
    """What a table was printed by."""

    reading: int
    weights: tuple[int, ...]
    rounding: Rounding


@pytest.fixture(scope="module")
def table1() -> Problem:
    """The DeiT, Swin and PoolFormer rows of Table 1, counted under every reading."""
    rows = [r for r in rows_of(load(["imlp"]).papers[0]) if r.table.value.table == "1" and "lvt" not in r.id]
    return replace(compose(rows).problem, allowed={str(one): (0,) for one in _LEFT_OUT})


def truths(problem: Problem) -> list[Truth]:
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


def printed(problem: Problem, truth: Truth) -> Problem:
    """Return the problem with the numbers that a truth prints with two decimals, in M and in G."""
    return replace(problem, cells=tuple(_printed(problem, cell, truth) for cell in problem.cells))


def _printed(problem: Problem, cell: Cell, truth: Truth) -> Cell:
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
