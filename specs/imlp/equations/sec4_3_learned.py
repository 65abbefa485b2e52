"""Sec. 4.1 and 4.3: every number of an IMLP is learned, by the derivative of what the block computes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.models.imlp import Imlp
from imlp_audit.models.reading import ConcatNorm, DepthwiseActivation, DepthwiseNorm, OutputNorm

from ._block_cases import Block, block_cases
from ._block_formula import Filled, filled
from ._series import PRELU, RELU

_STEP = 2.0**-8


@dataclass(frozen=True)
class Point:
    """What a block gives at some weights, added up with weights 1, 2, ..., and the signs of what enters its phi."""

    value: Tensor
    signs: tuple[Tensor, ...]

    def bends_like(self, other: Point) -> bool:
        """Whether no phi has another of its two lines here."""
        return all(map(torch.equal, self.signs, other.signs))


def _piecewise_linear(case: Block) -> st.Strategy[Block]:
    """Return a block that is linear in each of its weights between the corners of its activation."""

    def with_(phi: object, activation: DepthwiseActivation) -> Block:
        reading = replace(
            case.reading, concat_norm=ConcatNorm.NONE, output_norm=OutputNorm.NONE, depthwise_norm=DepthwiseNorm.NONE,
            depthwise_activation=activation,
        )  # fmt: skip
        return replace(case, reading=reading, phi=phi, norm_layer=None, grid=case.size, drop=None, dropping=False)  # type: ignore[arg-type]

    activations = st.sampled_from((DepthwiseActivation.NONE, DepthwiseActivation.AGELU))
    return st.builds(with_, st.sampled_from((RELU, PRELU)), activations)


@claim(filled(block_cases(None).flatmap(_piecewise_linear)), share=0.25)
def fig4_learns_every_weight(case: Filled, arithmetic: Arithmetic) -> Trial:
    """Every number of an IMLP is learned, and so is what the block reads: the four coefficients of each AGeLU, both
    layers, the depthwise convolution and the slopes of PReLU have the derivatives of what the block computes.

    Read as: with ReLU or PReLU as phi and without norms, the block is linear in each of its weights as long as no
    argument of phi changes its sign; there its derivative is the difference of two values by the step between them.

    Place: Sec. 4.1, the sentence after Eq. 3, and Sec. 4.3, Fig. 4 (b)
    Printed: alpha and beta are learnable coefficients before and after applying the basic nonlinear function phi(.),
        and gamma and theta are learnable biases
    Bound: none: in float64 all sums and products of these numbers are exact
    """
    # Hold backpropagation against differences, along one direction of each weight and of the input, in which all move.
    exact = Arithmetic(torch.float64, arithmetic.device)
    module = case.block.make()
    case.fill(module, exact)
    fixed = [name for name, weight in module.named_parameters() if not weight.requires_grad]
    if fixed:
        return Trial(False, {**case.shown(), "not learned": fixed})
    rows = exact.tensor(case.rows).requires_grad_()
    places = {"x": rows, **dict(module.named_parameters())}
    here = _point(case, module, rows)
    gradients = torch.autograd.grad(here.value, list(places.values()), allow_unused=True)
    for (name, place), gradient in zip(places.items(), gradients, strict=True):
        direction = _counted(place) % 4 - 1.5
        before, after = (_moved(case, module, rows, place, sign * _STEP * direction) for sign in (-1, 1))
        if not (before.bends_like(here) and after.bends_like(here)):
            continue
        difference = ((after.value - before.value) / (2 * _STEP)).item()
        slope = 0.0 if gradient is None else (gradient * direction).sum().item()
        if slope != difference:
            return Trial(False, {**case.shown(), "moved": name, "difference": difference, "derivative": slope})
    return Trial(True)


def _counted(place: Tensor) -> Tensor:
    """Return 1, 2, ... in the shape of a tensor."""
    return torch.arange(1, place.numel() + 1, dtype=place.dtype, device=place.device).reshape(place.shape)


def _moved(case: Filled, module: Imlp, rows: Tensor, place: Tensor, step: Tensor) -> Point:
    with torch.no_grad():
        kept = place.clone()
        place += step
        point = _point(case, module, rows)
        place.copy_(kept)
    return point


def _point(case: Filled, module: Imlp, rows: Tensor) -> Point:
    with _watched(module) as signs:
        outputs = case.in_layout(module, rows)
        return Point((outputs * _counted(outputs)).sum(), tuple(signs))


@contextmanager
def _watched(module: Imlp) -> Iterator[list[Tensor]]:
    """Note the signs of what enters each activation as long as the context lasts."""
    signs: list[Tensor] = []
    bent = [part for part in module.modules() if isinstance(part, nn.ReLU | nn.PReLU)]
    hooks = [part.register_forward_pre_hook(lambda _, x: signs.append(x[0].detach().sign())) for part in bent]
    try:
        yield signs
    finally:
        for hook in hooks:
            hook.remove()
