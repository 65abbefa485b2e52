"""Models that code from outside has a part in: each is counted whole, under every reading, in a process of its own.

Nothing is known about how the axes of somebody else's block interact, so nothing is added up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from imlp_audit.count.facts import Failure, ModelFacts, ModelKey, Need
from imlp_audit.count.outside import measure_outside
from imlp_audit.errors import BuildError
from imlp_audit.models.reading import BlockReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.solve.amounts import Amounts, amounts
from imlp_audit.solve.space import Readings


@dataclass(eq=False)
class Outside:
    """Counts the models of code from outside; those that are expected are counted together."""

    _expected: dict[ModelKey, Need] = field(default_factory=dict)
    _facts: dict[ModelKey, ModelFacts | Failure] = field(default_factory=dict)

    def expect(self, models: Mapping[Recipe, Readings | None]) -> None:
        """Say which models will be asked for, each with its readings, None if no reading changes it."""
        for recipe, readings in models.items():
            self._expected.update(dict.fromkeys(_keys(recipe, readings), Need(work=True)))

    def count(self, recipe: Recipe, readings: Readings | None) -> Amounts:
        """Return the amounts under every reading, (readings, amounts). Raises BuildError where one fails."""
        self.expect({recipe: readings})
        new = {key: need for key, need in self._expected.items() if key not in self._facts}
        self._facts.update(measure_outside(new, lambda _: None) if new else ())
        return np.stack([_amounts(key, self._facts[key]) for key in _keys(recipe, readings)])


def _keys(recipe: Recipe, readings: Readings | None) -> Iterator[ModelKey]:
    if readings is None:
        yield ModelKey(recipe, None)
    else:
        yield from (ModelKey(recipe, reading) for reading in readings.all())


def _amounts(key: ModelKey, facts: ModelFacts | Failure) -> Amounts:
    if isinstance(facts, Failure):
        raise BuildError(f"{facts.message}{_under(key)}")
    if facts.ledger is None:
        raise BuildError(f"{key.recipe.name}: its work was not counted{_under(key)}")
    return amounts(facts.parameters, facts.ledger)


def _under(key: ModelKey) -> str:
    """Name the combination of answers that a block of one's own was counted with."""
    if not isinstance(key.reading, BlockReading):
        return ""
    return f" (with {', '.join(f'{axis}: {value}' for axis, value in key.reading.answers)})"
