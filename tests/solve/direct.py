"""Counting a model that is built whole, without anything that composes it."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import numpy as np
import torch
from torch import nn

from imlp_audit.measure.attention import unfuse_attention
from imlp_audit.measure.conventions import ParameterConvention
from imlp_audit.measure.ledger import measure
from imlp_audit.measure.parameters import count_parameters
from imlp_audit.measure.recorder import Memory
from imlp_audit.measure.sites import site_of
from imlp_audit.models.build import Builder
from imlp_audit.models.example import example_inputs
from imlp_audit.models.reading import AnyReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.solve.amounts import CLASSES, CONVENTIONS, SITES, Amounts
from imlp_audit.solve.space import Readings

Counts = dict[str, int]


def counts_of(model: nn.Module, memory: Memory | None = None) -> Counts:
    """Count parameters by each convention, and work by site and class; what is 0 is left out."""
    with torch.device("meta"):
        inputs = example_inputs(model)
    ledger = measure(model, *inputs, memory=memory)
    assert not ledger.unknown
    counts: Counter[str] = Counter({str(c): count_parameters(model, c) for c in ParameterConvention})
    for (path, operation), amount in ledger.work.items():
        counts[f"{operation}@{site_of(path)}"] += amount
    return {name: count for name, count in counts.items() if count}


def direct(builder: Builder, memory: Memory, recipe: Recipe, reading: AnyReading | None) -> Counts:
    """Build a model through the builder and count it."""
    with builder.variant(recipe, reading) as variant:
        return counts_of(unfuse_attention(variant.model), memory)


def composed(table: Amounts, index: int) -> Counts:
    """Return one reading's counts, in the same form."""
    names = [*CONVENTIONS, *(f"{operation}@{site}" for site, operation in product(SITES, CLASSES))]
    return {str(name): int(count) for name, count in zip(names, table[index], strict=True) if count}


def sample(readings: Readings, count: int, seed: str) -> list[tuple[int, AnyReading]]:
    """Return a few readings by their index, always the same ones for a seed."""
    chosen = random.Random(seed).sample(range(len(readings)), min(count, len(readings)))
    return [(index, readings.at(tuple(map(int, np.unravel_index(index, readings.shape))))) for index in chosen]
