"""Building a model and taking it apart: what each of its parameters is for, and its IMLP blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from torch import Tensor, nn

from imlp_audit.count.facts import Failure, ModelKey
from imlp_audit.count.fvcore import unfuse_attention
from imlp_audit.count.models import attempt
from imlp_audit.count.outside import each_outside
from imlp_audit.count.parameters import classifiers
from imlp_audit.errors import BuildError
from imlp_audit.explain.body import Body, ImlpSize, ParameterKind, TensorShare
from imlp_audit.models.agelu import AGeLU
from imlp_audit.models.build import Builder
from imlp_audit.models.imlp import Imlp
from imlp_audit.models.reading import AnyReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.solve.counting import count_model


def dissect(recipe: Recipe, reading: AnyReading | None, builder: Builder | None = None) -> Body:
    """Return the parts of a model, built on the meta device. Raises BuildError, or whatever a host's code raises.

    Code from outside runs in a process of its own, with a time limit.
    """
    if not recipe.runs_code:
        return _dissect(recipe, reading, builder or Builder())
    key = ModelKey(recipe, reading)
    body = dict(each_outside(_dissect_each, {key: None}))[key]
    if isinstance(body, Failure):
        raise BuildError(body.message)
    return body


def _dissect_each(models: Mapping[ModelKey, None]) -> Iterator[tuple[ModelKey, Body | Failure]]:
    return ((key, attempt(key.recipe, partial(_dissect, key.recipe, key.reading, Builder()))) for key in models)


def _dissect(recipe: Recipe, reading: AnyReading | None, builder: Builder) -> Body:
    with builder.variant(recipe, reading) as variant:
        counted = count_model(variant, {})
        model = unfuse_attention(variant.model)
        tensors = (*_parameters(model), *_buffers(model))
        blocks = {
            path: inputs for path, inputs in counted.inputs.items() if isinstance(model.get_submodule(path), Imlp)
        }
        own_blocks = recipe.mlp is not None and recipe.mlp.python is not None
        parts = recipe.host.traits().parts
        return Body(tensors, counted.ledger, tuple(blocks), _sizes(model, blocks), parts, own_blocks)


def _parameters(model: nn.Module) -> Iterator[TensorShare]:
    """Yield every parameter once, at the first path that has it."""
    head = {inner for module in classifiers(model) for inner in module.modules()}
    elsewhere = {p for module in model.modules() if module not in head for p in module.parameters(recurse=False)}
    seen: set[nn.Parameter] = set()
    for path, module in model.named_modules():
        for name, parameter in module.named_parameters(recurse=False):
            if parameter not in seen:
                seen.add(parameter)
                kind = _kind(module, name)
                yield TensorShare(_join(path, name), kind, parameter.numel(), in_head=parameter not in elsewhere)


def _buffers(model: nn.Module) -> Iterator[TensorShare]:
    kept = model.state_dict().keys()
    for path, buffer in model.named_buffers():
        if path in kept:
            yield TensorShare(path, ParameterKind.BUFFER, buffer.numel())


def _kind(module: nn.Module, name: str) -> ParameterKind:
    """Return what a parameter is for, by its module and its name there."""
    if isinstance(module, AGeLU):
        return ParameterKind.COEFFICIENT
    if "Norm" in type(module).__name__:
        return ParameterKind.NORM
    if name.endswith("bias"):
        return ParameterKind.BIAS
    if name.endswith("weight"):
        return ParameterKind.WEIGHT
    is_table = any(word in name for word in ("token", "pos"))
    return ParameterKind.TABLE if is_table else ParameterKind.SCALE


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _sizes(model: nn.Module, blocks: Mapping[str, Sequence[Tensor]]) -> Mapping[ImlpSize, int]:
    """Count the IMLP blocks of each size; a block counts once for each input that it gets."""
    found: Counter[ImlpSize] = Counter()
    for path, inputs in blocks.items():
        module = model.get_submodule(path)
        if isinstance(module, Imlp):
            found.update(_block(module, x) for x in inputs)
    return found


def _block(module: Imlp, x: Tensor) -> ImlpSize:
    fc1, fc2 = module.fc1, module.fc2
    assert isinstance(fc1, nn.Linear | nn.Conv2d)
    assert isinstance(fc2, nn.Linear | nn.Conv2d)
    channels, hidden = fc1.weight.shape[1], fc2.weight.shape[1]
    tokens = x.numel() // channels
    return ImlpSize(
        channels=channels,
        hidden=hidden,
        tokens=tokens,
        grid=tokens - module.prefix_tokens,
        biases=(fc1.bias is not None, fc2.bias is not None),
    )
