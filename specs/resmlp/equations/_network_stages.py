"""A network run stage by stage: each stage is held against its formula on what the stage before it gave."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from torch import Tensor, nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, equal
from imlp_audit.equations.matrix import RoundedMatrix
from imlp_audit.models.blocks import Pooling
from imlp_audit.models.reading import ResMlpForm

from ._network import CLASS_LAYERS, Network
from ._network_formula import Formula
from ._network_norms import Batch
from ._network_weights import Weights, affine


def _same(batch: Batch) -> Batch:
    return batch


@dataclass(frozen=True)
class Stage:
    """A part of a network, its formula, and what enters it of that which the stage before it gave."""

    name: str
    formula: Callable[[Batch], Batch]
    enter: Callable[[Batch], Batch] = _same


@dataclass(frozen=True)
class Call:
    """What entered a part of a network, and what it gave."""

    name: str
    entered: Tensor
    given: Tensor


def check(net: Network, arithmetic: Arithmetic, *, training: bool = False) -> Trial:
    """Judge a network by its formula; in training both images, as each may depend on the other."""
    return check_stages(net, Formula(net, training), arithmetic, first=0 if training else 1)


def check_stages(net: Network, formula: Formula, arithmetic: Arithmetic, first: int = 1) -> Trial:
    """Judge whether the network has its weights and is its stages, one after the other, and each its formula.

    Its images are held against it from the first one given on.
    """
    others = _other_weights(net)
    if others:
        return Trial(False, {**net.shown(), **others})
    stages = list(stages_of(net, Weights.of(net.weights(), arithmetic), formula))
    names, images = [stage.name for stage in stages], arithmetic.tensor(net.images())
    logits, calls = _watched(net.module(arithmetic).train(formula.training), names, images)
    if [call.name for call in calls] != names:
        return Trial(False, {**net.shown(), "stages": names, "found": [call.name for call in calls]})
    batch = exact(images, arithmetic)
    for stage, call in zip(stages, calls, strict=True):
        enters = equal(_tables(call.entered), stage.enter(batch), **net.shown(), enters=stage.name)
        printed = stage.formula(exact(call.entered, arithmetic)[first:])
        gives = equal(_tables(call.given)[first:], printed, **net.shown(), stage=stage.name)
        if not (enters.holds and gives.holds):
            return gives if enters.holds else enters
        batch = exact(call.given, arithmetic)
    return equal(_tables(logits), batch, **net.shown())


def _other_weights(net: Network) -> dict[str, object]:
    """Return the first weight whose name or shape is not that of the formula."""
    found = {name: tuple(weight.shape) for name, weight in net.fresh().state_dict().items()}
    expected = dict(net.shapes())
    for name in {**expected, **found}:
        if found.get(name) != expected.get(name):
            return {"weight": name, "its shape": found.get(name), "expected": expected.get(name)}
    return {}


def _watched(module: nn.Module, names: Sequence[str], images: Tensor) -> tuple[Tensor, list[Call]]:
    """Return what a network makes of images, and the calls of its parts in their order."""
    calls: list[Call] = []

    def watch(name: str) -> None:
        def hook(_: nn.Module, entered: tuple[Tensor, ...], given: Tensor) -> None:
            calls.append(Call(name, entered[0], given))

        module.get_submodule(name).register_forward_hook(hook)

    for name in names:
        watch(name)
    return module(images), calls


def exact(x: Tensor, arithmetic: Arithmetic) -> Batch:
    """Return tables as exact numbers."""
    return [arithmetic.matrix(table) for table in _tables(x).tolist()]


def _tables(x: Tensor) -> Tensor:
    """Return a table for each image: of an image color by color, of a vector in one row."""
    return x[:, None] if x.ndim == 2 else x.flatten(2)


def stages_of(net: Network, weights: Weights, formula: Formula) -> Iterator[Stage]:
    """Yield a network's stages in their order."""

    def stage(name: str, part: Callable[[Batch, Weights], Batch], enter: Callable[[Batch], Batch] = _same) -> Stage:
        return Stage(name, lambda batch: part(batch, weights.below(name)), enter)

    yield stage("stem", partial(_patches, net))
    for layer in range(net.layers):
        enter = _same if layer else lambda batch: formula.embedded(batch, weights)
        yield stage(f"blocks.{layer}", formula.layer, enter)
    if net.pooling is Pooling.AVERAGE:
        yield stage("pool", formula.average)
        yield stage("head", _classify)
        return
    token = weights.vector("pool.token")
    for layer in range(CLASS_LAYERS):
        enter = _same if layer else lambda batch: [RoundedMatrix([token, *x]) for x in batch]
        yield stage(f"pool.layers.{layer}", formula.class_layer, enter)
    if net.form is ResMlpForm.ALGORITHM:
        yield stage(f"pool.layers.{CLASS_LAYERS}", formula.normal)
    yield stage("head", _classify, lambda batch: [x[:1] for x in batch])


def _classify(batch: Batch, weights: Weights) -> Batch:
    return [x.map_rows(affine(weights)) for x in batch]


def _patches(net: Network, batch: Batch, weights: Weights) -> Batch:
    """Project the pixels of each patch: patches row by row of the grid, a patch color by color and row by row."""
    project, (down, across), side = affine(weights, "proj"), net.grid, range(net.patch)
    places = [
        [((h * net.patch + i) * net.size[1] + w * net.patch + j) for i in side for j in side]
        for h in range(down)
        for w in range(across)
    ]
    return [
        RoundedMatrix(project([color[at] for color in image for at in patch]) for patch in places) for image in batch
    ]
