"""How sure an answer is: how many solutions are as good, and how far their weights could be moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from math import ceil, floor, prod

import numpy as np

from imlp_audit.solve.answer import Answer, Choice
from imlp_audit.solve.bundles import Bundle
from imlp_audit.solve.parts import lay_out
from imlp_audit.solve.pinned import readings_of
from imlp_audit.solve.polytope import hull, ranges_of, systems_of
from imlp_audit.solve.problem import Problem

FEW = 12
"""Up to so many equally good candidates are called "one of k"."""

_SYSTEMS = 12  # linear programs are solved for so many combinations of a reading and the cells it explains


@dataclass(frozen=True)
class Range:
    """The weights of classes that no printed number tells apart: what may be said is about their weighted sum.

    That sum is over `classes`, each times its factor. `values` are its values in the best solutions; `low` and
    `high` its range over the reals, `high` None where nothing limits it.
    """

    classes: tuple[str, ...]
    factors: tuple[int, ...]
    values: tuple[int, ...]
    low: float
    high: float | None

    @property
    def identified(self) -> bool:
        """Whether the best solutions agree, and no other integer is in the range over the reals."""
        return len(self.values) == 1 and self.high is not None and floor(self.high) - ceil(self.low) == 0


@dataclass(frozen=True)
class Certainty:
    """In words how well readings and counters are known, and the numbers behind the words.

    `readings` counts the best readings of each group, `counters` the best combinations of weights that some number
    could tell apart, under the rounding of the first solution. `all_systems` says whether `ranges` are over all
    best readings, or over the first ones alone.
    """

    readings: Mapping[str, int]
    counters: int
    ranges: tuple[Range, ...]
    all_systems: bool

    @property
    def reading(self) -> str:
        """How well the readings are known."""
        return word(prod(self.readings.values()))

    @property
    def counter(self) -> str:
        """How well the weights are known: one integer point in a wide polytope is not called identified."""
        if not self.ranges or (self.counters == 1 and not all(one.identified for one in self.ranges)):
            return "not determined"
        return word(self.counters)


def word(candidates: int) -> str:
    """Say how well something is known of which so many candidates are equally good."""
    if candidates == 1:
        return "identified"
    return f"one of {candidates}" if candidates <= FEW else "not determined"


def certainty(problem: Problem, answer: Answer) -> Certainty:
    """Return how sure an answer to a problem is."""
    layout = lay_out(problem)
    bundles = layout.bundles
    systems = list(islice(systems_of(layout, answer.ties), _SYSTEMS + 1))
    ranges = hull([ranges_of(system) for system in systems[:_SYSTEMS]])
    return Certainty(
        readings={group: len(readings) for group, readings in readings_of(answer.ties).items()},
        counters=_counters(answer, bundles),
        ranges=tuple(
            Range(
                classes=tuple(problem.classes[place] for place in bundle.classes),
                factors=bundle.factors,
                values=tuple(sorted(_values(answer, axis, bundle))),
                low=low,
                high=high,
            )
            for axis, (bundle, (low, high)) in enumerate(zip(bundles, ranges, strict=True))
        ),
        all_systems=len(systems) <= _SYSTEMS,
    )


def _values(answer: Answer, axis: int, bundle: Bundle) -> set[int]:
    """Return the weighted sums of a bundle in the best solutions."""
    return {int(value) for choice in _choices(answer, axis) for value in choice.options @ np.array(bundle.factors)}


def _choices(answer: Answer, axis: int) -> list[Choice]:
    """Return the different choices of a bundle's weights."""
    return list({id(one.weights[axis]): one.weights[axis] for one in answer.ties}.values())


def _counters(answer: Answer, bundles: tuple[Bundle, ...]) -> int:
    """Count the combinations of weighted sums: boxes of one run have no weights in common."""
    rounding = answer.solutions[0].flops_rounding
    boxes = {tuple(map(id, one.weights)) for one in answer.ties if one.flops_rounding == rounding}
    counts = {
        id(choice): len(np.unique(choice.options @ np.array(bundle.factors)))
        for axis, bundle in enumerate(bundles)
        for choice in _choices(answer, axis)
    }
    return sum(prod(counts[one] for one in weights) for weights in boxes)
