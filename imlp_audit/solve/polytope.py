"""What explained cells of FLOPs leave to the weights, over the reals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, floor, inf
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from imlp_audit.errors import SolverError
from imlp_audit.solve.answer import Ties
from imlp_audit.solve.parts import Layout, Part

_PARTS = 1000  # a bound is rounded outward to one of so many parts of a weight

Bounds: TypeAlias = list[tuple[float, float | None]]
"""Of each weighted sum the least and the largest value, None where nothing limits it."""


@dataclass(frozen=True, eq=False)
class System:
    """What explained cells demand of weighted sums v: low <= work @ v <= high; `work` is (cells, bundles)."""

    work: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def systems_of(layout: Layout, solutions: Sequence[Ties]) -> Iterator[System]:
    """Yield, each once, the systems of the cells of FLOPs that the best readings explain."""
    known: set[bytes] = set()
    places = [_places(part) for part in layout.parts]
    for ties in solutions:
        best = [_profiles(part, of, ties) for part, of in zip(layout.parts, places, strict=True)]
        for profiles in product(*best):
            system = _system(layout, ties, profiles)
            key = system.work.tobytes() + system.low.tobytes()
            if key not in known:
                known.add(key)
                yield system


def _places(part: Part) -> Mapping[int, int]:
    """Return the profile of each reading of a part."""
    return {reading: at for at, profile in enumerate(part.readings) for reading in profile.tolist()}


def _profiles(part: Part, places: Mapping[int, int], ties: Ties) -> list[int]:
    """Return the profiles of a part's best readings."""
    return sorted({places[reading] for reading in ties.readings[part.group].tolist()}) if part.group else [0]


def _system(layout: Layout, ties: Ties, profiles: tuple[int, ...]) -> System:
    """Return the system of the cells explained: by all weights of the ties, so by the first of each choice."""
    cells = layout.problem.cells
    work = np.concatenate([part.work[..., at] for part, at in zip(layout.parts, profiles, strict=True)])
    places = [place for part in layout.parts for place in part.flops]
    ranges = [cells[place].ranges[ties.flops_rounding] for place in places] if ties.flops_rounding else []
    low, high = np.array(ranges, dtype=np.float64).reshape(-1, 2).T
    sums = [choice.options[0] @ np.array(b.factors) for choice, b in zip(ties.weights, layout.bundles, strict=True)]
    totals = work @ np.array(sums, dtype=np.float64)
    inside = (low <= totals) & (totals <= high)
    return System(work[inside], low[inside], high[inside])


def ranges_of(system: System) -> Bounds:
    """Return the range of each weighted sum over the reals of none or more, rounded outward.

    Linear programming gives every other solution as well, so a sum may be moved through its range only together
    with others. Rows are scaled by the width of their interval, for the tolerances of the solver.
    """
    width = system.high - system.low + 1
    work, low, high = system.work / width[:, np.newaxis], system.low / width, system.high / width
    demands, limits = np.concatenate([work, -work]), np.concatenate([high, -low])
    bounds: Bounds = []
    for axis in range(work.shape[1]):
        goal = np.zeros(work.shape[1])
        goal[axis] = 1
        least, most = (_optimum(sign * goal, demands, limits) for sign in (1, -1))
        assert least is not None, "no sum is below zero"
        bounds.append((_outward(least, -1), None if most is None else _outward(-most, 1)))
    return bounds


def _optimum(goal: NDArray[np.float64], demands: NDArray[np.float64], limits: NDArray[np.float64]) -> float | None:
    """Return the least value of a goal, None where nothing limits it."""
    from scipy.optimize import linprog  # half a second to import, for this alone

    result = linprog(goal, A_ub=demands, b_ub=limits, bounds=(0, None), method="highs")
    if result.status == 3:
        return None
    if result.status != 0:
        raise SolverError(f"the range of a weight was not found: {result.message}")
    return float(result.fun)


def _outward(value: float, sign: int) -> float:
    scaled = value * _PARTS + sign * 1e-3  # what the solver's tolerances may hide
    return max(0, ceil(scaled) if sign > 0 else floor(scaled)) / _PARTS


def hull(found: Sequence[Bounds]) -> Bounds:
    """Return the range of each sum over all systems."""
    return [(min(low for low, _ in some), _largest(high for _, high in some)) for some in zip(*found, strict=True)]


def _largest(limits: Iterable[float | None]) -> float | None:
    """Return the largest limit; None, which stands for no limit, is larger than all."""
    limit = max(inf if one is None else one for one in limits)
    return None if limit == inf else limit
