"""Noise in place of a checkpoint's weights: a sentence that is true of noise too says nothing about learned weights.

The noise is the weights themselves in random places, 19 times. If the weights had no structure, they and their 19
shuffles would be 20 draws of one kind, so a sentence would be true of the weights alone in at most one case of 20,
whatever it measures. Where shuffling changes nothing that is measured, as for a share of small numbers, the noise is
freshly drawn: from a normal and from a uniform distribution, which are those that weights are initialised from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import erf, sqrt
from statistics import NormalDist
from typing import assert_never

import numpy as np
import torch
from torch import Tensor

from imlp_audit.inspect.blocks import measure_modules
from imlp_audit.inspect.cross_patch import measure_mixing
from imlp_audit.inspect.gates import measure_gate
from imlp_audit.inspect.parts import AgeluPart, CheckpointParts, State
from imlp_audit.records.inspection import CrossPatchLayer, Inspection, Sparsity

DRAWS = 19
_SMALL = 20  # a number below a twentieth of the largest counts as small


class Kind(StrEnum):
    """What is drawn; the value is what a message calls it."""

    SHUFFLED = "the same numbers in random places"
    NORMAL = "normal numbers"
    UNIFORM = "uniform numbers"


@dataclass(frozen=True)
class Noise:
    """Measurements of noise in place of the weights, each made when it is first asked for."""

    parts: CheckpointParts
    state: State
    measured: Inspection
    _made: dict[tuple[Kind, int], Inspection] = field(default_factory=dict)

    def draws(self, kind: Kind) -> Iterator[Inspection]:
        """Yield what is measured of noise, the same each time."""
        for number in range(DRAWS):
            if (kind, number) not in self._made:
                random = np.random.default_rng((list(Kind).index(kind), number))
                self._made[kind, number] = self._shuffle(random) if kind is Kind.SHUFFLED else self._draw(kind, random)
            yield self._made[kind, number]

    def _shuffle(self, random: np.random.Generator) -> Inspection:
        """Measure the weights that mix patches or tokens, in random places."""

        def moved(value: Tensor) -> Tensor:
            order = torch.from_numpy(random.permutation(value.numel()))
            return value.reshape(-1)[order].reshape(value.shape)

        layers = []
        for part, layer in zip(self.parts.mixing, self.measured.cross_patch, strict=True):
            across = tuple(replace(one, values=moved(one.values)) for one in part.across)
            pattern, _ = measure_mixing(replace(part, across=across), self.parts.side(part.patches))
            layers.append(layer.model_copy(update={"pattern": pattern}))  # no rate of small numbers changes
        gates = tuple(
            measure_gate(replace(one, weight=moved(one.weight)), self.parts.side(one.tokens))
            for one in self.parts.gates
        )
        return self.measured.model_copy(update={"cross_patch": tuple(layers), "gates": gates})

    def _draw(self, kind: Kind, random: np.random.Generator) -> Inspection:
        """Measure fresh numbers: rates of small ones, and the coefficients of AGeLUs."""

        def fresh(value: Tensor) -> Tensor:
            drawn = random.normal(size=value.shape) if kind is Kind.NORMAL else random.uniform(-1, 1, value.shape)
            return torch.from_numpy(np.asarray(drawn))

        agelus = tuple(AgeluPart(one.name, tuple(map(fresh, one.coefficients))) for one in self.parts.agelus)
        layers = tuple(_draw_rates(layer, kind, random) for layer in self.measured.cross_patch)
        blocks, _ = measure_modules(self.state, agelus)
        return self.measured.model_copy(update={"cross_patch": layers, "blocks": blocks})


def _draw_rates(layer: CrossPatchLayer, kind: Kind, random: np.random.Generator) -> CrossPatchLayer:
    across, channels = (
        tuple(draw_sparsity(one, kind, random) for one in matrices) for matrices in (layer.across, layer.channels)
    )
    return layer.model_copy(update={"across": across, "channels": channels})


def draw_sparsity(one: Sparsity, kind: Kind, random: np.random.Generator) -> Sparsity:
    """Return the counts of as many fresh numbers, drawn without the numbers.

    The largest of n absolute values is below m with the probability F(m)^n; the others are independent below it.
    """
    highest = random.uniform() ** (1 / one.of)  # F of the largest
    match kind:
        case Kind.NORMAL:
            largest = NormalDist().inv_cdf(min((1 + highest) / 2, 1 - 2**-53))
            small = erf(largest / _SMALL / sqrt(2)) / highest
        case Kind.UNIFORM:
            small = 1 / _SMALL
        case Kind.SHUFFLED:
            return one
        case _:
            assert_never(kind)
    below = int(random.binomial(one.of - 1, min(1.0, small)))
    return one.model_copy(update={"below": below, "zeros": 0})
