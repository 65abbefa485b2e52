"""What a score is worth: the same search with shifted digits, with families apart, and with cells left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from itertools import combinations
from math import prod

import numpy as np

from imlp_audit.numbers.interval import decimal_text
from imlp_audit.records.solution import SolvedHeld
from imlp_audit.solve.answer import SearchAnswer, Ties, find_explained
from imlp_audit.solve.problem import Cell, CountedRow, Integers, SearchProblem
from imlp_audit.solve.search import BUDGET, Rules, Score, best_score, solve


@dataclass(frozen=True)
class Controls:
    """What tables with shifted digits score, what is explained unseen, and which families would have to differ."""

    null: tuple[tuple[int, int], ...]
    held: tuple[SolvedHeld, ...]
    families: tuple[tuple[str, ...], ...]


def find_controls(problem: SearchProblem, score: int, rules: Rules, budget: int) -> Controls:
    """Return what an answer with this score is worth. It needs no model, so it can be found in another process."""
    return Controls(
        null=tuple((one.found, one.at_most) for one in null_scores(problem, rules)),
        held=tuple(held_out(problem, rules, budget=budget)),
        families=tuple(one.families for one in by_family(problem, score, rules, budget=budget)),
    )


def get_ready() -> None:
    """Do nothing: what a process asks for first, while there is no problem yet, is to import this module."""


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


HALVES = 4
_MOST_READINGS = 20_000  # pairs of a reading and a cell, over all ties, beyond which no mean is given


def held_out(problem: SearchProblem, rules: Rules = Rules.TOGETHER, *, budget: int = BUDGET) -> Iterator[SolvedHeld]:
    """Yield how much of each host, each family and random halves the solutions for the rest explain."""
    for name, cells in folds(problem).items():
        answer = solve(_without(problem, cells), rules, budget=budget)
        hits = find_explained(problem, answer.first, cells)
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
    if totals > _MOST_READINGS:
        return None
    free = _free_weights(problem, cells)
    try:
        hits = sum(ties.count * _share(problem, cell, ties, free) for ties in answer.ties for cell in cells)
    except TooManyError:
        return None
    return Fraction(hits) / answer.count


def _free_weights(problem: SearchProblem, cells: Sequence[Cell]) -> list[Integers]:
    """Return the weights that a class in no choice may have: all of them where no searched cell has such work."""
    rows = [problem.rows[cell.row] for cell in problem.cells if cell.kind == "flops" and cell not in cells]
    return [
        np.array([0] if any(row.work[:, place].any() for row in rows) else problem.weights_of(name), dtype=np.int64)
        for place, name in enumerate(problem.classes)
    ]


def _readings(problem: SearchProblem, cell: Cell, ties: Ties) -> Integers:
    """Return the readings that the row of a cell may have."""
    row = problem.rows[cell.row]
    if not row.group:
        return np.zeros(1, dtype=np.int64)
    return ties.readings.get(row.group, np.arange(np.prod(problem.spaces[row.group].shape)))


def _share(problem: SearchProblem, cell: Cell, ties: Ties, free: Sequence[Integers]) -> Fraction:
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


def _terms(problem: SearchProblem, amounts: Integers, ties: Ties, free: Sequence[Integers]) -> list[Integers]:
    """Return what each choice of weights, and each weight that is free, may add to a total."""
    chosen = {place for choice in ties.weights for place in choice.classes}
    return [choice.options @ amounts[list(choice.classes)] for choice in ties.weights] + [
        free[place] * amounts[place] for place in range(len(problem.classes)) if place not in chosen
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
