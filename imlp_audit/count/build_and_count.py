"""Building and counting the models that an audit needs. A model that fails is recorded as a fact; the others go on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeAlias, TypeVar

import torch
from torch import Tensor, nn

from imlp_audit.count.facts import Failure, Measured, ModelFacts, ModelKey, Need
from imlp_audit.count.fvcore import count_with_fvcore, unfuse_attention
from imlp_audit.count.ledger import CallCache, measure, peak_memory
from imlp_audit.count.parameters import parameter_counts
from imlp_audit.count.record import Ledger
from imlp_audit.errors import BuildError, UntrustedError
from imlp_audit.models.build import Builder, Variant, describe_failure, limited_model
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.settings import example_inputs, settings_of

Made = TypeVar("Made")
Progress = Callable[[str], None]


def measure_models(
    needed: Mapping[ModelKey, Need],
    progress: Progress,
    fvcore_device: str | None = None,
    cache: CallCache | None = None,
) -> Iterator[Measured]:
    """Measure each model on the meta device; if `fvcore_device` is given, also run the real fvcore on that device.

    With the same `cache`, models that share operations are counted faster.
    """
    builder, cache, known = Builder(), CallCache() if cache is None else cache, _Known()
    waiting = Counter(key.recipe.with_own_mlps() for key in needed)
    for key, need in needed.items():
        progress(key.recipe.name)
        yield key, attempt(key.recipe, partial(_measure_model, builder, cache, known, key, need, fvcore_device))
        host = key.recipe.with_own_mlps()
        waiting[host] -= 1
        if not waiting[host]:  # a table may have more models than memory holds
            builder.drop(host)


def run_once(key: ModelKey) -> Failure | None:
    """Build a model on the CPU and run it on one input; return why that fails, None if it works."""

    def run() -> None:
        with Builder("cpu").variant(key.recipe, key.reading) as variant, torch.inference_mode():
            variant.model(*_inputs(variant.model, "cpu"))

    return attempt(key.recipe, run)


def attempt(recipe: Recipe, make: Callable[[], Made]) -> Made | Failure:
    """Return what is made of a recipe's model, or why that fails."""
    try:
        return make()
    except BuildError as error:
        return Failure(str(error), untrusted=isinstance(error, UntrustedError))
    except (Exception, SystemExit) as error:  # what a host's code raises is this row's result, not the audit's end
        return Failure(describe_failure(recipe, error))


_Known: TypeAlias = dict[tuple[ModelKey, Need], ModelFacts]
"""What was counted, by what the models depend on."""


def _measure_model(
    builder: Builder, cache: CallCache, known: _Known, key: ModelKey, need: Need, fvcore_device: str | None
) -> ModelFacts:
    with limited_model(key.recipe), torch.device("meta"):
        same = replace(key, reading=builder.essence(key.recipe, key.reading)), need
    if same not in known:
        with limited_model(key.recipe), builder.variant(key.recipe, key.reading) as variant:
            known[same] = _count(variant, cache, need)
    facts = known[same]
    if need.work and fvcore_device is not None:
        return _add_fvcore_count(facts, key, fvcore_device)
    return facts


def count_work(model: nn.Module) -> Ledger:
    """Return the work of a model on its example inputs, on the meta device."""
    return measure(unfuse_attention(model), *_inputs(model, "meta"))


def _count(variant: Variant, cache: CallCache, need: Need) -> ModelFacts:
    model = unfuse_attention(variant.model)
    ledger = measure(model, *_inputs(model, "meta"), cache=cache) if need.work else None
    return ModelFacts(
        parameters=parameter_counts(model),
        mlps=variant.mlps,
        mlp_parameters=sum(p.numel() for p in nn.ModuleList(map(model.get_submodule, variant.mlps)).parameters()),
        ledger=ledger.condensed(variant.mlps) if ledger is not None else None,
        settings=settings_of(model),
        peaks={n: peak_memory(model, *_inputs(model, "meta", n), cache=cache) for n in sorted(need.batches)},
    )


def _add_fvcore_count(facts: ModelFacts, key: ModelKey, device: str) -> ModelFacts:
    with Builder(device).variant(key.recipe, key.reading) as variant:
        counted = count_with_fvcore(variant.model, *_inputs(variant.model, device))
    return replace(facts, counted={"fvcore": counted})


def _inputs(model: nn.Module, device: str, batch: int = 1) -> tuple[Tensor, ...]:
    with torch.device(device):
        return example_inputs(model, batch)
