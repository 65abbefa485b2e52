"""Counting a model that is built whole, without anything that composes it."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import numpy as np
import torch

from imlp_audit.count.fvcore import unfuse_attention
from imlp_audit.count.ledger import CallCache, measure
from imlp_audit.count.parameters import parameter_counts
from imlp_audit.count.record import site_of
from imlp_audit.models.build import Builder
from imlp_audit.models.readings import AnyReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.settings import example_inputs
from imlp_audit.solve.compose import CLASSES, CONVENTIONS, SITES, Readings
from imlp_audit.solve.problem import Integers

Counts = dict[str, int]


def direct(builder: Builder, memory: CallCache, recipe: Recipe, reading: AnyReading | None) -> Counts:
    """Build a model whole and count its parameters by convention, its work by site and class, where not 0."""
    with builder.variant(recipe, reading) as variant:
        model = unfuse_attention(variant.model)
        with torch.device("meta"):
            inputs = example_inputs(model)
        ledger = measure(model, *inputs, cache=memory)
        counts: Counter[str] = Counter({str(c): count for c, count in parameter_counts(model).items()})
    assert not ledger.unknown
    for (path, operation), amount in ledger.work.items():
        counts[f"{operation}@{site_of(path)}"] += amount
    return {name: count for name, count in counts.items() if count}


def composed(table: Integers, index: int) -> Counts:
    """Return one reading's counts, in the same form."""
    names = [*CONVENTIONS, *(f"{operation}@{site}" for site, operation in product(SITES, CLASSES))]
    return {str(name): int(count) for name, count in zip(names, table[index], strict=True) if count}


def sample(readings: Readings, count: int, seed: str) -> list[tuple[int, AnyReading]]:
    """Return a few readings by their index, always the same ones for a seed."""
    chosen = random.Random(seed).sample(range(len(readings)), min(count, len(readings)))
    return [(index, readings.at(tuple(map(int, np.unravel_index(index, readings.shape))))) for index in chosen]
