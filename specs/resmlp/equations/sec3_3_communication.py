"""Sec. 3.3, communication across patches, and the size of the communication MLP (Appendix A)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.dependence import depends
from imlp_audit.equations.rounded import total
from imlp_audit.models.resmlp import CrossPatch, CrossPatchMlp

from ._costs import PATCHES, OnGrid, cost_of_layer, linear_layer, rounds_to
from ._layer import FeedForwardCase, batch_of, feedforwards


@dataclass(frozen=True)
class Reordered:
    """A cross-channel sublayer and its four patches, and another order of them."""

    sublayer: FeedForwardCase
    order: tuple[int, ...]


@claim(
    st.builds(Reordered, feedforwards(patches=(4,)), st.sampled_from(((1, 0, 2, 3), (1, 2, 3, 0), (3, 2, 1, 0)))),
    proof=Proof("all numbers and any activation", lambda case: {**case.sublayer.sizes(), "order": str(case.order)}),
)
def no_interaction_is_a_bag_of_patches(case: Reordered, arithmetic: Arithmetic) -> Trial:
    """Without the linear interaction layer the network is a bag of patches: the average of the patches that come out of
    the cross-channel sublayer does not depend on their order.

    Place: Sec. 3.3, Communication across patches
    Printed: if we remove the linear interaction layer (linear -> none), we obtain substantially lower accuracy for a
        "bag-of-patches" approach
    Bound: that of Eq. 3, then 3 roundings of the sum over patches; the mean over four divides exactly
    """
    # Hold the average in the other order against the average in the printed one.
    z = batch_of(case.sublayer.z, arithmetic)[:, list(case.order)]
    pooled = case.sublayer.module(arithmetic).cross_channel(z)[0].mean(dim=0)
    printed = [0.25 * total(channel) for channel in case.sublayer.printed(arithmetic)]
    return equal(pooled, printed, **case.sublayer.shown(), order=case.order)


@claim(st.integers(1, 5))
def linear_layer_has_fewer_parameters(side: int, _: Arithmetic) -> Trial:
    """The single linear square layer across patches has fewer parameters than the residual MLP block with four times as
    many hidden units, with the biases of both or without.

    Place: Sec. 3.3, Communication across patches
    Printed: The simpler choice of a single linear square layer requires fewer parameters than a residual MLP block
    Bound: none: counts are integers
    """
    # Hold the counts of both, with biases and without, against each other.
    linear, mlp = CrossPatch(side**2, bias=True), CrossPatchMlp(side**2)
    counts = {"linear": _parameters(linear), "MLP": _parameters(mlp)}
    weights = {"weights of linear": _parameters(linear, 2), "weights of MLP": _parameters(mlp, 2)}
    fewer = counts["linear"] < counts["MLP"] and weights["weights of linear"] < weights["weights of MLP"]
    return Trial(fewer, {"N": side, **counts, **weights})


def _parameters(module: nn.Module, least_dimensions: int = 1) -> int:
    return sum(parameter.numel() for parameter in module.parameters() if parameter.ndim >= least_dimensions)


@claim(st.just(12))
def communication_mlp_costs_halfway(layers: int, _: Arithmetic) -> Trial:
    """With the MLP for the linear patch communication, ResMLP-S12 requires compute halfway between ResMLP-S12 and
    ResMLP-S24. Read as: the work of its layers is nearer to the middle than to either of them.

    Place: Sec. 3.3, Communication across patches
    Printed: considering that the MLP variant requires compute halfway between ResMLP-S12 and ResMLP-S24
    Bound: none: counts are integers
    """
    # Hold the work of the variant's layers against that of S12's, S24's and their mean.
    s12 = layers * cost_of_layer(linear_layer).work
    variant = layers * cost_of_layer(lambda: CrossPatchMlp(PATCHES)).work
    middle, s24 = 3 * s12 // 2, 2 * s12
    halfway = abs(variant - middle) < min(abs(variant - s12), abs(variant - s24))
    return Trial(halfway, {"S12": s12, "with MLP": variant, "middle": middle, "S24": s24})


@claim(st.sampled_from((0.25, 0.5, 1, 2, 3, 4)))
def communication_mlp_sizes(expansion: float, _: Arithmetic) -> Trial:
    """The MLP that mixes N patches with an expansion factor e is a linear layer from N to e N, GELU, and a linear layer
    from e N to N, for the factors that the paper tries and its 14 x 14 patches: e N is an integer.

    Place: Appendix A, Ablation on the size of the communication MLP
    Printed: linear N x e x N - GELU - linear e x N x N
    Bound: none: dimensions are integers
    """
    # Hold the shapes of the module's weights, outputs by inputs, against the printed ones.
    mlp, hidden = CrossPatchMlp(PATCHES, expansion).mlp, expansion * PATCHES
    shapes = [tuple(mlp.b.weight.shape), tuple(mlp.c.weight.shape)]
    return Trial(shapes == [(hidden, PATCHES), (PATCHES, hidden)], {"N": PATCHES, "e": expansion, "weights": shapes})


@claim(st.just(384))
def convolution_depthwise_costs_the_same(width: int, _: Arithmetic) -> Trial:
    """A layer with a depth-wise 3 x 3 convolution for the linear patch communication has a comparable number of
    parameters and FLOPs. Read as: of a layer of ResMLP-S12, the ratios of both round to 1.

    Place: Sec. 3.3, Communication across patches
    Printed: The depth-wise convolution yields similar performance at a comparable number of parameters and FLOPs
    Bound: none: counts are integers
    """
    # Hold the ratios of costs against 1.
    return rounds_to(1, cost_of_layer(lambda: OnGrid(nn.Conv2d(width, width, 3, padding=1, groups=width))))


@claim(st.just(384))
def convolution_full_doubles_costs(width: int, _: Arithmetic) -> Trial:
    """A layer with a full 3 x 3 convolution for the linear patch communication has roughly double the parameters and
    the FLOPs. Read as: of a layer of ResMLP-S12, the ratios of both round to 2.

    Place: Sec. 3.3, Communication across patches
    Printed: While full 3 x 3 convolutions yield best results, they come with roughly double the number of parameters
        and FLOPs
    Bound: none: counts are integers
    """
    # Hold the ratios of costs against 2.
    return rounds_to(2, cost_of_layer(lambda: OnGrid(nn.Conv2d(width, width, 3, padding=1))))


@claim(st.just(384))
def convolution_separable_costs_the_same(width: int, _: Arithmetic) -> Trial:
    """A layer with a depth-separable 3 x 3 convolution, a depth-wise one and then a 1 x 1 one, has a number of
    parameters and FLOPs comparable to the linear layer. Read as: of a layer of ResMLP-S12, the ratios of both round to
    1.

    Place: Sec. 3.3, Communication across patches
    Printed: the depth-separable convolutions combine accuracy close to that of full 3 x 3 convolutions with a number of
        parameters and FLOPs comparable to our linear layer
    Bound: none: counts are integers
    """
    # Hold the ratios of costs against 1.

    def separable() -> nn.Module:
        return OnGrid(nn.Conv2d(width, width, 3, padding=1, groups=width), nn.Conv2d(width, width, 1))

    return rounds_to(1, cost_of_layer(separable))


@dataclass(frozen=True)
class Size:
    """A number of channels and the side N of the grid."""

    d: int
    side: int


@claim(st.builds(Size, st.integers(1, 3), st.integers(1, 3)))
def depthwise_convolution_mixes_no_channels(case: Size, arithmetic: Arithmetic) -> Trial:
    """Like the linear patch communication layer, a depth-wise 3 x 3 convolution implements no interaction across
    channels: no channel's output has a derivative by another channel. With a full convolution every channel's output
    has.

    Place: Sec. 3.3, Communication across patches
    Printed: The depth-wise convolution does not implement interaction across channels - as our linear patch
        communication layer
    Bound: none: a derivative is exactly zero or it is not
    """
    # Hold which channels depend on which, with weights of 1, against the diagonal and against all of them.
    d, side = case.d, case.side

    def on_patches(x: Tensor) -> Tensor:
        patches: Tensor = linear(x.flatten(2).transpose(1, 2))
        return patches.transpose(1, 2).view(x.shape)

    linear = _of_ones(CrossPatch(side**2, bias=False), arithmetic)
    layers: dict[str, Callable[[Tensor], Tensor]] = {
        "linear": on_patches,
        "depth-wise": _of_ones(nn.Conv2d(d, d, 3, padding=1, groups=d), arithmetic),
        "full": _of_ones(nn.Conv2d(d, d, 3, padding=1), arithmetic),
    }
    x = arithmetic.tensor([[[[0.0] * side] * side] * d])
    mixing = {name: _channels(layer, x) for name, layer in layers.items()}
    own = torch.eye(d, dtype=torch.bool, device=x.device)
    holds = torch.equal(mixing["linear"], own) and torch.equal(mixing["depth-wise"], own) and mixing["full"].all()
    return Trial(bool(holds), {"d": d, "N": side, **{name: found.tolist() for name, found in mixing.items()}})


def _of_ones(module: nn.Module, arithmetic: Arithmetic) -> nn.Module:
    for parameter in module.parameters():
        nn.init.ones_(parameter)
    return arithmetic.place(module)


def _channels(layer: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Which channel depends on which, over all patches."""
    return depends(layer, x)[0, :, :, :, 0].flatten(1, 2).any(dim=1).flatten(2).any(dim=2)
