"""Models counted whole, without taking them apart."""

from __future__ import annotations

from collections import Counter

import torch

from imlp_audit.count.call import Operation
from imlp_audit.count.conventions import ParameterConvention
from imlp_audit.count.fvcore import unfuse_attention
from imlp_audit.count.ledger import measure
from imlp_audit.count.parameters import count_parameters
from imlp_audit.models.build import Builder
from imlp_audit.models.readings import AnyReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.settings import example_inputs

Counts = dict[ParameterConvention | Operation, int]


def whole(recipe: Recipe, reading: AnyReading | None, builder: Builder | None = None) -> Counts:
    """Count a model's parameters by convention and its work by class."""
    with (builder or Builder()).variant(recipe, reading) as variant:
        model = unfuse_attention(variant.model)
        with torch.device("meta"):
            inputs = example_inputs(model)
        ledger = measure(model, *inputs)
        sizes = {convention: count_parameters(model, convention) for convention in ParameterConvention}
    counts: Counter[ParameterConvention | Operation] = Counter(sizes)
    for (_, operation), amount in ledger.work.items():
        counts[operation] += amount
    return counts


def macs(counts: Counts) -> int:
    """Return the multiply-accumulates."""
    return sum(counts[operation] for operation in (Operation.LINEAR, Operation.PRODUCT, Operation.CONV))
