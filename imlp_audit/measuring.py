"""Building and counting the models that an audit needs. A model that fails is a fact too; the rest goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn

from imlp_audit.errors import BuildError
from imlp_audit.facts import Facts, Failure, ModelFacts, ModelKey
from imlp_audit.measure.attention import unfuse_attention
from imlp_audit.measure.conventions import ParameterConvention
from imlp_audit.measure.ledger import measure
from imlp_audit.measure.parameters import count_parameters
from imlp_audit.measure.recorder import Memory
from imlp_audit.models.build import Builder, Variant

Progress = Callable[[str], None]


def measure_models(needed: Mapping[ModelKey, bool], progress: Progress, fvcore_device: str | None = None) -> Facts:
    """Measure every model on the meta device; with a device, run the real fvcore there as well."""
    builder, memory = Builder(), Memory()
    facts: dict[ModelKey, ModelFacts | Failure] = {}
    for key, work in needed.items():
        progress(key.recipe.timm)
        facts[key] = _measured(builder, memory, key, work, fvcore_device)
    return facts


def _measured(
    builder: Builder, memory: Memory, key: ModelKey, work: bool, fvcore_device: str | None
) -> ModelFacts | Failure:
    try:
        with builder.variant(key.recipe, key.reading) as variant:
            facts = _count(variant, memory, work)
        if work and fvcore_device is not None:
            return _with_fvcore(facts, key, fvcore_device)
        return facts
    except BuildError as error:
        return Failure(str(error))
    except Exception as error:  # whatever a host's code raises is a result of this row, not the end of the audit
        return Failure(f"{key.recipe.timm} could not be built or counted: {type(error).__name__}: {error}")


def _count(variant: Variant, memory: Memory, work: bool) -> ModelFacts:
    model = unfuse_attention(variant.model)
    return ModelFacts(
        parameters={convention: count_parameters(model, convention) for convention in ParameterConvention},
        mlps=variant.mlps,
        mlp_parameters=count_parameters(nn.ModuleList(model.get_submodule(path) for path in variant.mlps)),
        ledger=measure(model, _image(model, "meta"), memory=memory) if work else None,
    )


def _with_fvcore(facts: ModelFacts, key: ModelKey, device: str) -> ModelFacts:
    from imlp_audit.measure.fvcore_counter import count_with_fvcore  # half a second to import, for this alone

    with Builder(device).variant(key.recipe, key.reading) as variant:
        counted = count_with_fvcore(variant.model, _image(variant.model, device))
    return ModelFacts(facts.parameters, facts.mlps, facts.mlp_parameters, facts.ledger, {"fvcore": counted})


def _image(model: nn.Module, device: str) -> Tensor:
    """Return one image of the size the model is configured for, (1, channels, height, width)."""
    size = getattr(model, "pretrained_cfg", {}).get("input_size", (3, 224, 224))
    return torch.zeros(1, *size, device=device)
