"""Introduction and related work: which operations there are, and what they depend on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.dependence import depends
from imlp_audit.equations.matrix import RoundedMatrix
from imlp_audit.equations.rounded import Rounded, total
from imlp_audit.equations.strategies import Matrix, Vector, matrices, nonzero, numbers, plain, vectors
from imlp_audit.models.attention import SelfAttention
from imlp_audit.models.resmlp import CrossPatch, EquationLayer

from ._attention import Attention, attentions
from ._communication import Communication, communications
from ._layer import PATCHES, Column, CrossPatchCase, FeedForwardCase, Values, affs, batch_of, each_of, loaded, matrix_of


@dataclass(frozen=True)
class Layer:
    """A layer of one channel on one patch or 2 x 2 patches, its input X, and W."""

    cross_patch: CrossPatchCase
    feedforward: FeedForwardCase
    w: Matrix

    def module(self, arithmetic: Arithmetic) -> EquationLayer:
        """Return the layer with the identity for GELU."""
        weights = {**self.cross_patch.weights(), **self.feedforward.weights()}
        layer = loaded(EquationLayer(1, len(self.cross_patch.a)), weights, arithmetic)
        for name, module in list(layer.named_modules()):
            if isinstance(module, nn.GELU):
                layer.set_submodule(name, nn.Identity())
        return layer

    def printed(self, x: Matrix, arithmetic: Arithmetic) -> RoundedMatrix:
        """Return Y of X by Eq. 2 and 3 with the identity for GELU."""
        b, c = arithmetic.matrix(self.feedforward.b), arithmetic.matrix(self.feedforward.c)

        def mixed(z: Column) -> list[Rounded]:
            hidden = b @ self.feedforward.before.of(z, arithmetic)
            return self.feedforward.after.of(c @ hidden, arithmetic)

        z = replace(self.cross_patch, x=x).printed(arithmetic)
        return z + z.T.map_rows(mixed).T


def _layers(patches: int) -> st.Strategy[Layer]:
    x, a = matrices(1, patches), matrices(patches, patches)
    z, b, c = st.just(((0.0,) * patches,)), matrices(4, 1), matrices(1, 4)
    cross_patch = st.builds(CrossPatchCase, x, a, affs(1), affs(1))
    feedforward = st.builds(FeedForwardCase, z, b, c, affs(1), affs(1))
    return st.builds(Layer, cross_patch, feedforward, x)


@claim(each_of(_layers, PATCHES), proof=Proof("all numbers", lambda case: case.cross_patch.sizes()))
def gelu_is_the_only_nonlinearity(case: Layer, arithmetic: Arithmetic) -> Trial:
    """GELU is the layer's only non-linearity: with the identity for GELU it is affine, f(X + W) + f(0) = f(X) + f(W).

    Place: Introduction
    Printed: an architecture with only linear layers and GELU non-linearity
    Bound: that of both sublayers, multiplied out, and one rounding of the last sum
    """
    # Hold the module at X + W and at zero against the printed form at X and at W.
    module, x = case.module(arithmetic), case.cross_patch.x
    points = arithmetic.tensor([x, case.w])
    together = matrix_of(module((points[0] + points[1]).T[None]) + module(0 * points[:1].transpose(1, 2)))
    apart = case.printed(x, arithmetic) + case.printed(case.w, arithmetic)
    feedforward = {name: value for name, value in case.feedforward.shown().items() if name != "Z"}
    return equal(together, apart, **case.cross_patch.shown(), W=case.w, **feedforward)


@dataclass(frozen=True)
class FullyConnected:
    """Features (d x 4, of 2 x 2 patches), weights and biases."""

    x: Matrix
    weight: Matrix
    bias: Vector


@claim(
    each_of(lambda d, h: st.builds(FullyConnected, matrices(d, 4), matrices(h, d), vectors(h)), (1, 2, 3), (1, 2)),
    proof=Proof("all numbers", lambda case: {"d": len(case.x), "output": len(case.bias)}),
)
def fully_connected_is_a_1x1_convolution(case: FullyConnected, arithmetic: Arithmetic) -> Trial:
    """A fully connected layer applied to each patch is a convolution with a 1 x 1 receptive field and the same weights.

    Place: Related work, Other architectures with similar components
    Printed: A fully connected layer is equivalent to a convolution layer with a 1 x 1 receptive field
    Bound: gamma_{d+1} times the magnitudes of the weights' products and the bias
    """
    # Hold the convolution of the grid, and the linear layer of each patch, against the sum of products.
    x, weight, bias = arithmetic.tensor(case.x), arithmetic.tensor(case.weight), arithmetic.tensor(case.bias)
    convolved = nn.functional.conv2d(x.view(1, -1, 2, 2), weight[:, :, None, None], bias).flatten(2)[0]
    connected = nn.functional.linear(x.T, weight, bias).T

    products = arithmetic.matrix(case.weight) @ arithmetic.matrix(case.x)
    printed = products + arithmetic.matrix([[number] * 4 for number in case.bias])
    shown = {"X": case.x, "weights": case.weight, "bias": case.bias}
    convolution = equal(convolved, printed, **shown)
    return equal(connected, printed, **shown) if convolution.holds else convolution


@claim(st.sampled_from((3, 4, 5)))
def global_field_of_view(side: int, arithmetic: Arithmetic) -> Trial:
    """The linear layer across patches sees all of them, as self-attention does: every output depends on every patch. A
    3 x 3 convolution on a grid of 3 x 3 patches or more does not.

    Place: Related work, Other architectures with similar components
    Printed: Both layers have a global field-of-view, unlike convolutional layers
    Bound: none: a derivative is exactly zero or it is not
    """
    # Look for patches that an output does not depend on, with weights of 1 and features of zero.
    patches = side**2
    across: dict[str, Values] = {"a.weight": ((1.0,) * patches,) * patches}
    attention: dict[str, Values] = {"qkv.weight": ((1.0,), (1.0,), (1.0,)), "proj.weight": ((1.0,),)}
    convolution = arithmetic.place(nn.Conv2d(1, 1, 3, padding=1, bias=False))
    nn.init.ones_(next(convolution.parameters()))

    def convolve(x: Tensor) -> Tensor:
        grid: Tensor = convolution(x.view(1, 1, side, side))
        return grid.view(x.shape)

    layers: dict[str, Callable[[Tensor], Tensor]] = {
        "linear": loaded(CrossPatch(patches, bias=False), across, arithmetic),
        "self-attention": loaded(SelfAttention(1, bias=False), attention, arithmetic),
        "convolution": convolve,
    }
    x = torch.zeros_like(arithmetic.tensor([[[0.0]] * patches]))
    sees_all = {name: bool(depends(layer, x).all()) for name, layer in layers.items()}
    printed = {"linear": True, "self-attention": True, "convolution": False}
    return Trial(sees_all == printed, {"N": side, "sees all patches": sees_all})


@claim(communications((2, 3)))
def linear_layer_is_shared_across_channels(case: Communication, arithmetic: Arithmetic) -> Trial:
    """The patches interact via a linear layer that is shared across channels and applied to each of them independently:
    every channel has the same weights between patches, and no channel has a derivative by another.

    Place: Related work, Other architectures with similar components; Introduction
    Printed: interaction between patches is obtained via a linear layer that is shared across channels; a cross-patch
        linear layer applied to all channels independently
    Bound: none: a derivative is one weight or exactly zero
    """
    # Hold the derivatives of all channels against A in its own channel and zero between two.
    found = case.derivatives(arithmetic)
    channels = torch.eye(len(case.x), dtype=found.dtype, device=found.device)
    shared = torch.einsum("nm,cd->ncmd", arithmetic.tensor(case.a), channels)
    return Trial(torch.equal(found, shared), {**case.shown(), "derivatives": found.tolist()})


@claim(attentions(), share=0.5, proof=Proof("all numbers", Attention.sizes, cases=attentions(2)))
def self_attention(case: Attention, arithmetic: Arithmetic) -> Trial:
    """The package's self-attention, which the claims about self-attention run, aggregates the values of all patches by
    the softmax of the products of queries and keys, over the root of their width, in each of its heads.

    Place: Related work, Other architectures with similar components
    Corrected: y = concat_{h=1}^{2}(softmax(q_h k_h' / sqrt(d / 2)) v_h) W_out' + b, q, k, v = x W' + b each
    Bound: that of the products carried through the softmax (functions_softmax.py), then gamma of the sums over patches
        and channels
    """
    # Hold the module against the formula.
    return equal(case.output(arithmetic), case.printed(arithmetic), **case.shown())


@claim(plain(st.tuples(nonzero(), numbers(), numbers(), numbers()).filter(lambda x: len(set(x)) > 1)))
def self_attention_weights_depend_on_data(x: Vector, arithmetic: Arithmetic) -> Trial:
    """In self-attention the weights that aggregate information from other patches depend on the data: with one channel
    and queries, keys and values that are the features themselves, patch 1 takes the plain mean of all patches where its
    feature is zero, and does not where it is not zero and the patches differ.

    Place: Related work, Other architectures with similar components
    Printed: in self-attention the weights to aggregate information from other patches are data dependent through
        queries and keys
    Bound: 4 roundings of the mean's terms, four patches; what patch 1 takes has to be further from it than that
    """
    # Hold what patch 1 takes against the plain mean, for x and for x with zero in patch 1.
    weights: dict[str, Values] = {"qkv.weight": ((1.0,), (1.0,), (1.0,)), "proj.weight": ((1.0,),)}
    attention = loaded(SelfAttention(1, bias=False), weights, arithmetic)

    def takes_mean(x: Vector) -> bool:
        taken = attention(batch_of((x,), arithmetic))[0, 0, 0]
        return equal(taken, 0.25 * total(arithmetic.vector(x))).holds

    found = {"takes the mean": takes_mean(x), "takes it with zero in patch 1": takes_mean((0.0, *x[1:]))}
    return Trial(found == {"takes the mean": False, "takes it with zero in patch 1": True}, {"x": x, **found})


@claim(communications())
def weights_depend_on_no_data(case: Communication, arithmetic: Arithmetic) -> Trial:
    """The weights of the linear patch interaction layer do not depend on the data: whatever X is, patch n takes patch m
    with the weight A_nm.

    Place: Related work, Other architectures with similar components
    Printed: in ResMLP the weights are not data dependent and only based on absolute positions of patches
    Bound: none: a derivative is one weight
    """
    # Hold the derivatives between patches, in the first channel, against A.
    weights = case.derivatives(arithmetic)[:, 0, :, 0]
    return Trial(torch.equal(weights, arithmetic.tensor(case.a)), {**case.shown(), "weights": weights.tolist()})
