"""Times the search for readings and counters against trying everything with numpy, in turn, and prints both rates.

    python benchmarks/search_speed.py [RUNS]

Both sides explain the 44 numbers of the DeiT, Swin and PoolFormer rows of IMLP's Table 1, counted once beforehand.
Trying everything is a matrix product a cell, on a subspace: the weights of four classes are open, all others stay as
fvcore has them; it must find the same best score there as the search. The search alone then takes the whole space.
A combination is a reading, a rounding rule and a weight for each class of work that some row does.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from math import prod

import numpy as np

from imlp_audit.count.call import BOOKED_TWICE, Operation
from imlp_audit.count.conventions import FLOPS_CONVENTIONS
from imlp_audit.count.record import Site
from imlp_audit.solve.compose import compose
from imlp_audit.solve.problem import SearchProblem
from imlp_audit.solve.search import solve
from imlp_audit.spec.load import load

OPEN = (Operation.LAYER_NORM, Operation.POOL, Operation.BATCH_NORM, Operation.SOFTMAX)


def table1() -> SearchProblem:
    """Return the problem of Table 1's rows but LVT's."""
    rows = [row for row in load(["imlp"]).papers[0].rows if row.id.startswith("imlp/1/") and "lvt" not in row.id]
    return replace(compose(rows)[0], allowed={str(one): (0,) for one in BOOKED_TWICE})


def subspace(problem: SearchProblem) -> SearchProblem:
    """Return the problem in which four classes of work alone have open weights."""
    fvcore = FLOPS_CONVENTIONS["fvcore"]
    fixed = {name: (fvcore.weight(Operation(name), Site.BLOCK),) for name in problem.classes if name not in OPEN}
    return replace(problem, allowed={**fixed, **{str(one): (0,) for one in BOOKED_TWICE}})


def combinations(problem: SearchProblem) -> int:
    """Count what is searched."""
    readings = prod(prod(space.shape) for space in problem.spaces.values())
    return readings * len(problem.roundings) * prod(len(problem.weights_of(name)) for name in problem.classes)


def try_everything(problem: SearchProblem) -> int:
    """Return the best score over every combination, by plain numpy."""
    best = 0
    weights = np.array(list(product(*(problem.weights_of(name) for name in problem.classes))), dtype=np.int64).T
    readings = prod(next(iter(problem.spaces.values())).shape)
    for rounding in problem.roundings:
        sizes = np.zeros((readings, len(problem.conventions)), dtype=np.int64)
        flops = np.zeros((readings, weights.shape[1]), dtype=np.int16)
        for cell in problem.cells:
            row, (least, most) = problem.rows[cell.row], cell.ranges[rounding]
            if cell.kind == "parameters":
                for place, convention in enumerate(problem.conventions):
                    found = row.parameters.get(convention, np.full(1, -1))
                    sizes[:, place] += (least <= found) & (found <= most)
            else:
                total = row.work @ weights
                flops += (least <= total) & (total <= most)
        best = max(best, int((sizes.max(axis=1) + flops.max(axis=1)).max()))
    return best


def timed(work: Callable[[SearchProblem], int], problem: SearchProblem) -> tuple[float, int]:
    """Return the seconds that some work takes, and the score it finds."""
    began = time.perf_counter()
    score = work(problem)
    return time.perf_counter() - began, score


def main() -> None:
    """EvaluatedCell the three in turn and print medians."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    whole = table1()
    part = subspace(whole)
    sides: dict[str, tuple[Callable[[SearchProblem], int], SearchProblem]] = {
        "numpy, subspace": (try_everything, part),
        "search, subspace": (lambda problem: solve(problem).score, part),
        "search, everything": (lambda problem: solve(problem).score, whole),
    }
    found: dict[str, list[tuple[float, int]]] = {name: [] for name in sides}
    for _ in range(runs):
        for name, (work, problem) in sides.items():
            found[name].append(timed(work, problem))
    print(f"{runs} runs, medians        score  combinations  seconds  combinations a second")
    for name, (_, problem) in sides.items():
        seconds, score = statistics.median(s for s, _ in found[name]), found[name][0][1]
        count = combinations(problem)
        print(f"{name:>22} {score:7} {count:13.2e} {seconds:8.2f} {count / seconds:22.2e}")
    if found["numpy, subspace"][0][1] != found["search, subspace"][0][1]:
        raise SystemExit("the search and numpy disagree")


if __name__ == "__main__":
    main()
