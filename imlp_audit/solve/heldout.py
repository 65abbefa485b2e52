"""Cells that the search did not see: how many of them the solutions for the rest explain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from math import prod

import numpy as np

from imlp_audit.numbers.interval import decimal_text
from imlp_audit.records.solution import SolvedHeld
from imlp_audit.solve.answer import SearchAnswer, Ties, find_explained
from imlp_audit.solve.problem import Cell, Integers, SearchProblem
from imlp_audit.solve.search import BUDGET, Rules, solve

HALVES = 4
_MOST = 20_000  # pairs of a reading and a cell, over all ties, beyond which no mean is given


def held_out(problem: SearchProblem, rules: Rules = Rules.TOGETHER, *, budget: int = BUDGET) -> Iterator[SolvedHeld]:
    """Yield how much of each host, each family and random halves the solutions for the rest explain."""
    for name, cells in folds(problem).items():
        answer = solve(_without(problem, cells), rules, budget=budget)
        hits = find_explained(problem, answer.solutions[0], cells)
        mean = mean_hits(problem, answer, cells)
        yield SolvedHeld(
            name=name, of=len(cells), chosen=len(hits), mean=None if mean is None else decimal_text(mean, 2)
        )


def _without(problem: SearchProblem, cells: Sequence[Cell]) -> SearchProblem:
    return problem.where(lambda cell: cell not in cells)


def folds(problem: SearchProblem) -> dict[str, list[Cell]]:
    """Return the cells of each host and family, and random halves, unless nothing would be left to search."""
    found: dict[str, list[Cell]] = {}
    for kind, name_of in (("host", problem.hosts), ("family", problem.families)):
        for cell in problem.cells:
            name = name_of.get(problem.rows[cell.row].id)
            if name is not None:
                found.setdefault(f"{kind} {name}", []).append(cell)
    for number in range(HALVES):
        found[f"half {number + 1}"] = _half(problem.cells, number)
    return {name: cells for name, cells in found.items() if 0 < len(cells) < len(problem.cells)}


def _half(cells: Sequence[Cell], number: int) -> list[Cell]:
    """Return half of the cells, drawn by a hash of their ids: the same ones everywhere."""
    drawn = sorted(cells, key=lambda cell: sha256(f"{number}/{cell.id}".encode()).digest())[: len(cells) // 2]
    return [cell for cell in cells if cell in drawn]


def mean_hits(problem: SearchProblem, answer: SearchAnswer, cells: Sequence[Cell]) -> Fraction | None:
    """Return how many cells a solution explains on average over all ties: exact, or None for too many ties.

    Weights of classes that had no work in what was searched are part of the average, and so are all readings of a
    group that had no cell there.
    """
    totals = sum(len(_readings(problem, cell, ties)) for ties in answer.ties for cell in cells)
    if totals > _MOST:
        return None
    free = {w.name: np.array(w.values, dtype=np.int64) for w in answer.weights}
    try:
        hits = sum(ties.count * _share(problem, cell, ties, free) for ties in answer.ties for cell in cells)
    except TooManyError:
        return None
    return Fraction(hits) / answer.count


def _readings(problem: SearchProblem, cell: Cell, ties: Ties) -> Integers:
    """Return the readings that the row of a cell may have."""
    row = problem.rows[cell.row]
    if not row.group:
        return np.zeros(1, dtype=np.int64)
    return ties.readings.get(row.group, np.arange(np.prod(problem.spaces[row.group].shape)))


def _share(problem: SearchProblem, cell: Cell, ties: Ties, free: Mapping[str, Integers]) -> Fraction:
    """Return the share of the solutions of ties that explain a cell."""
    rounding = ties.flops_rounding if cell.kind == "flops" else ties.parameter_rounding
    if rounding is None:
        return Fraction(0)
    row, readings = problem.rows[cell.row], _readings(problem, cell, ties)
    least, most = cell.ranges[rounding]
    if cell.kind == "parameters":
        sizes = row.parameters.get(ties.parameter_convention or "", np.full(1, -1))
        sizes = sizes if len(sizes) == 1 else sizes[readings]
        return Fraction(int(((least <= sizes) & (sizes <= most)).sum()), len(sizes))
    work, counts = np.unique(row.work if len(row.work) == 1 else row.work[readings], axis=0, return_counts=True)
    shares = (share_within(_terms(problem, amounts, ties, free), least, most) for amounts in work)
    return sum((int(n) * one for n, one in zip(counts, shares, strict=True)), Fraction(0)) / int(counts.sum())


def _terms(problem: SearchProblem, amounts: Integers, ties: Ties, free: Mapping[str, Integers]) -> list[Integers]:
    """Return what each choice of weights, and each weight that is free, may add to a total."""
    chosen = {place for choice in ties.weights for place in choice.classes}
    return [choice.options @ amounts[list(choice.classes)] for choice in ties.weights] + [
        free[name] * amounts[place] for place, name in enumerate(problem.classes) if place not in chosen
    ]


_MOST_SUMS = 1_000_000  # different sums of one half of the terms


class TooManyError(Exception):
    """There are too many different sums to list."""


def share_within(terms: Sequence[Integers], least: int, most: int) -> Fraction:
    """Return the share of the sums, of one value of each term, that lie in a range, both ends included.

    The terms are dealt to two halves; for each sum of one half, those of the other that complete it are neighbours
    in order. Raises TooManyError where a half has more sums than can be listed.
    """
    halves = [(np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64))] * 2
    for term in sorted(terms, key=len, reverse=True):
        halves.sort(key=lambda half: len(half[0]))
        halves[0] = _add_term(halves[0], term)
    (sums, counts), (others, times) = halves
    up_to = np.concatenate([[0], np.cumsum(times)])
    first, last = np.searchsorted(others, least - sums, "left"), np.searchsorted(others, most - sums, "right")
    within = sum(int(n) * int(m) for n, m in zip(counts, up_to[last] - up_to[first], strict=True))
    return Fraction(within, prod(map(len, terms)))


def _add_term(half: tuple[Integers, Integers], term: Integers) -> tuple[Integers, Integers]:
    """Return the different sums, ascending, and how often each comes about, with one more term."""
    sums, counts = half
    values, times = np.unique(term, return_counts=True)
    if len(sums) == 1 or len(values) == 1:  # the sums are distinct and ascending as they are
        return sums + values, counts * times
    if len(sums) * len(values) > _MOST_SUMS:
        raise TooManyError
    every = (sums[:, np.newaxis] + values).ravel()
    distinct, places = np.unique(every, return_inverse=True)
    total = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(total, places, (counts[:, np.newaxis] * times).ravel())
    return distinct, total
