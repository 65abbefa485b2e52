"""A network run stage by stage: each stage is held against its formula on what the stage before it gave."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, equal
from imlp_audit.equations.matrix import RoundedMatrix
from imlp_audit.models.hosts.resmlp import Pooling
from imlp_audit.models.reading import ResMlpForm

from ._network import CLASS_LAYERS, Network
from ._network_formula import Batch, Formula, Weights, affine


def _same(x: Tensor) -> Tensor:
    return x


@dataclass(frozen=True)
class Stage:
    """A part of a network, its formula, and what of the stage before it enters it."""

    name: str
    formula: Callable[[Tensor], Batch]
    enter: Callable[[Tensor], Tensor] = _same


@dataclass(frozen=True)
class Call:
    """What entered a part of a network, and what it gave."""

    name: str
    entered: Tensor
    given: Tensor


def check(net: Network, arithmetic: Arithmetic, *, training: bool = False) -> Trial:
    """Judge whether the network is its stages, one after the other, and each of them its formula.

    In training both images are held against it, as each may depend on the other, and otherwise the second.
    """
    weights = Weights(net.weights(), arithmetic)
    stages, module = list(_stages(net, weights, training)), net.module(arithmetic).train(training)
    images = arithmetic.tensor(net.images())
    logits, calls = _watched(module, [stage.name for stage in stages], images)
    if [call.name for call in calls] != [stage.name for stage in stages]:
        return Trial(False, {**net.shown(), "stages": [call.name for call in calls]})
    x = images
    for stage, call in zip(stages, calls, strict=True):
        x = stage.enter(x)
        if not torch.equal(call.entered, x):
            return _differ(net, f"what enters {stage.name}", call.entered, x)
        seen = slice(None) if training else slice(1, None)
        printed = stage.formula(x[seen])
        given = call.given[seen] if call.given.ndim == 3 else call.given[seen, None]
        trial = equal(given, printed, **net.shown(), stage=stage.name)
        if not trial.holds:
            return trial
        x = call.given
    return Trial(True) if torch.equal(logits, x) else _differ(net, "logits", logits, x)


def _differ(net: Network, what: str, left: Tensor, right: Tensor) -> Trial:
    return Trial(False, {**net.shown(), what: left.tolist(), "expected": right.tolist()})


def _watched(module: nn.Module, names: Sequence[str], images: Tensor) -> tuple[Tensor, list[Call]]:
    """Return what a network makes of images, and the calls of its parts in their order."""
    calls: list[Call] = []

    def watch(name: str) -> None:
        def hook(_: nn.Module, entered: tuple[Tensor, ...], given: Tensor) -> None:
            calls.append(Call(name, entered[0].detach(), given.detach()))

        module.get_submodule(name).register_forward_hook(hook)

    for name in names:
        watch(name)
    return module(images).detach(), calls


def _stages(net: Network, weights: Weights, training: bool) -> Iterator[Stage]:
    formula, arithmetic = Formula(net, training), weights.arithmetic

    def on_tables(part: Callable[[Batch, Weights], Batch], name: str) -> Callable[[Tensor], Batch]:
        return lambda x: part([arithmetic.matrix(table) for table in x.tolist()], weights.below(name))

    yield Stage("stem", lambda x: [_patches(net, image, weights) for image in x])
    for layer in range(net.layers):
        yield Stage(f"blocks.{layer}", on_tables(formula.layer, f"blocks.{layer}"))
    if net.pooling is Pooling.AVERAGE:
        yield Stage("pool", on_tables(formula.average, "pool"))
        yield Stage("head", _head(weights))
        return
    token = arithmetic.tensor(weights.get("pool.token"))
    for layer in range(CLASS_LAYERS):
        name = f"pool.layers.{layer}"
        yield Stage(name, on_tables(formula.class_layer, name), _same if layer else partial(_with_token, token))
    if net.form is ResMlpForm.ALGORITHM:
        name = f"pool.layers.{CLASS_LAYERS}"
        yield Stage(name, on_tables(formula.normal, name))
    yield Stage("head", _head(weights), lambda x: x[:, 0])


def _with_token(token: Tensor, patches: Tensor) -> Tensor:
    return torch.cat((token.expand(len(patches), 1, -1), patches), dim=1)


def _head(weights: Weights) -> Callable[[Tensor], Batch]:
    classify = affine(weights, "head")
    return lambda x: [RoundedMatrix([classify(weights.arithmetic.vector(row))]) for row in x.tolist()]


def _patches(net: Network, image: Tensor, weights: Weights) -> RoundedMatrix:
    """Project the pixels of each patch: patches row by row of the grid, a patch color by color and row by row."""
    project, side, vector = affine(weights, "stem.proj"), net.patch, weights.arithmetic.vector
    return RoundedMatrix(
        project(vector(_pixels(image, h, w, side))) for h in range(net.grid[0]) for w in range(net.grid[1])
    )


def _pixels(image: Tensor, h: int, w: int, side: int) -> list[float]:
    return [float(color[h * side + i, w * side + j]) for color in image for i in range(side) for j in range(side)]
