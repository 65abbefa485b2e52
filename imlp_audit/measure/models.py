"""Building and counting the models that an audit needs. A model that fails is a fact too; the rest goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn

from imlp_audit.errors import BuildError
from imlp_audit.measure.attention import unfuse_attention
from imlp_audit.measure.facts import Facts, Failure, ModelFacts, ModelKey, Need
from imlp_audit.measure.ledger import measure
from imlp_audit.measure.lifetime import peak_memory
from imlp_audit.measure.parameters import count_parameters, parameter_counts
from imlp_audit.measure.recorder import Memory
from imlp_audit.models.build import Builder, Variant
from imlp_audit.models.settings import example_inputs, settings_of

Progress = Callable[[str], None]


def measure_models(needed: Mapping[ModelKey, Need], progress: Progress, fvcore_device: str | None = None) -> Facts:
    """Measure every model on the meta device; with a device, run the real fvcore there as well."""
    builder, memory = Builder(), Memory()
    facts: dict[ModelKey, ModelFacts | Failure] = {}
    for key, need in needed.items():
        progress(key.recipe.name)
        facts[key] = _measured(builder, memory, key, need, fvcore_device)
    return facts


def _measured(
    builder: Builder, memory: Memory, key: ModelKey, need: Need, fvcore_device: str | None
) -> ModelFacts | Failure:
    try:
        with builder.variant(key.recipe, key.reading) as variant:
            facts = _count(variant, memory, need)
        if need.work and fvcore_device is not None:
            return _with_fvcore(facts, key, fvcore_device)
        return facts
    except BuildError as error:
        return Failure(str(error))
    except Exception as error:  # whatever a host's code raises is a result of this row, not the end of the audit
        return Failure(f"{key.recipe.name} could not be built or counted: {type(error).__name__}: {error}")


def _count(variant: Variant, memory: Memory, need: Need) -> ModelFacts:
    model = unfuse_attention(variant.model)
    return ModelFacts(
        parameters=parameter_counts(model),
        mlps=variant.mlps,
        mlp_parameters=count_parameters(nn.ModuleList(model.get_submodule(path) for path in variant.mlps)),
        ledger=measure(model, *_inputs(model, "meta"), memory=memory) if need.work else None,
        settings=settings_of(model),
        peaks={n: peak_memory(model, *_inputs(model, "meta", n), memory=memory) for n in sorted(need.batches)},
    )


def _with_fvcore(facts: ModelFacts, key: ModelKey, device: str) -> ModelFacts:
    from imlp_audit.measure.fvcore_counter import count_with_fvcore  # half a second to import, for this alone

    with Builder(device).variant(key.recipe, key.reading) as variant:
        counted = count_with_fvcore(variant.model, *_inputs(variant.model, device))
    return replace(facts, counted={"fvcore": counted})


def _inputs(model: nn.Module, device: str, batch: int = 1) -> tuple[Tensor, ...]:
    with torch.device(device):
        return example_inputs(model, batch)
