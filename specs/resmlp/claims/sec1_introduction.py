"""Introduction and related work: which operations there are, and what they depend on."""

from functools import partial
from math import sqrt

from hypothesis import assume
from hypothesis import strategies as st
from timm.models.vision_transformer import Attention
from torch import Tensor, cat, einsum, eye, nn, tensor, zeros
from torch.nn.functional import conv2d, linear

from imlp_audit.claims import Sides, choice, claim, depends, gradients, jacobian, modules, size, strictly_below, tensors
from imlp_audit.models.new_modules import of_ones
from imlp_audit.models.resmlp import CrossPatch

from ..models import EquationLayer
from ._layer import d, patches
from ._network import WEIGHTS


def _without_gelu(layer: EquationLayer) -> EquationLayer:
    for name, module in list(layer.named_modules()):
        if isinstance(module, nn.GELU):
            layer.set_submodule(name, nn.Identity())
    return layer


@claim(
    f=modules(EquationLayer, d, patches).map(_without_gelu),
    X=tensors(2, patches, d),
    W=tensors(2, patches, d),
    place="Introduction",
    printed="an architecture with only linear layers and GELU non-linearity",
)
def gelu_is_the_only_nonlinearity(f: EquationLayer, X: Tensor, W: Tensor) -> Sides:
    """GELU is the layer's only non-linearity: with the identity for GELU it is affine, f(X + W) + f(0) = f(X) +
    f(W).
    """
    return f(X + W) + f(0 * X), f(X) + f(W)


outputs = size("outputs", 1, 2)


@claim(
    x=tensors(2, d, 2, 2),
    weight=tensors(outputs, d),
    bias=tensors(outputs),
    place="Related work, Other architectures with similar components",
    printed="A fully connected layer is equivalent to a convolution layer with a 1 x 1 receptive field",
)
def fully_connected_is_a_1x1_convolution(x: Tensor, weight: Tensor, bias: Tensor) -> Sides:
    """A fully connected layer applied to each patch is a convolution with a 1 x 1 receptive field and the same
    weights.
    """
    printed = einsum("oc,bchw->bohw", weight, x) + bias[:, None, None]
    connected = linear(x.movedim(1, -1), weight, bias).movedim(-1, 1)
    return [(conv2d(x, weight[:, :, None, None], bias), printed), (connected, printed)]


@claim(
    N=size("N", 3, 4, 5),
    place="Related work, Other architectures with similar components",
    printed="Both layers have a global field-of-view, unlike convolutional layers",
)
def global_field_of_view(N: int) -> Sides:
    """The linear layer across patches sees all of them, as self-attention does: every output depends on every patch. A
    3 x 3 convolution on a grid of 3 x 3 patches or more does not.
    """
    across, attention = of_ones(CrossPatch(N**2, bias=False)), of_ones(Attention(1, 1, proj_bias=False))
    convolution = of_ones(nn.Conv2d(1, 1, 3, padding=1, bias=False))
    x, image = zeros(1, N**2, 1), zeros(1, 1, N, N)
    return [
        bool(depends(across, x).all()),
        bool(depends(attention, x).all()),
        not bool(depends(convolution, image).all()),
    ]


shared = modules(lambda n, bias: CrossPatch(n, bias=bias), patches, choice("bias", False, True))


@claim(
    layer=shared,
    X=tensors(patches, d),
    place="Related work, Other architectures with similar components; Introduction",
    printed="interaction between patches is obtained via a linear layer that is shared across channels; a "
    "cross-patch linear layer applied to all channels independently",
)
def linear_layer_is_shared_across_channels(layer: CrossPatch, X: Tensor) -> Sides:
    """The patches interact via a linear layer that is shared across channels and applied to each of them independently:
    every channel has the same weights between patches, and no channel has a derivative by another.
    """
    channels = eye(X.shape[1])
    return jacobian(layer, X[None])[0, :, :, 0], einsum("nm,cd->ncmd", layer.a.weight, channels)


_attention = partial(Attention, qkv_bias=True)
_sizes = choice("N^2, heads, d / heads", (2, 2, 1), (3, 2, 2), (3, 1, 3), (14 * 14, 3, 64))


@claim(
    x=_sizes.flatmap(lambda n: tensors(2, n[0], n[1] * n[2], values=WEIGHTS)),
    attention=_sizes.flatmap(lambda n: modules(_attention, n[1] * n[2], n[1], training=st.booleans(), values=WEIGHTS)),
    share=0.3,
    place="Related work, Other architectures with similar components",
    corrected="y = concat_{h=1}^{2}(softmax(q_h k_h' / sqrt(d / 2)) v_h) W_out' + b, q, k, v = x W' + b each",
)
def self_attention(x: Tensor, attention: Attention) -> Sides:
    """timm's self-attention, which the claims about self-attention run, aggregates the values of all patches by
    the softmax of the products of queries and keys, over the root of their width, in each of its heads.
    """
    h, width = attention.num_heads, attention.head_dim
    parts = zip(attention.qkv.weight.chunk(3), attention.qkv.bias.chunk(3), strict=True)
    q, k, v = ((x @ W.T + b).chunk(h, dim=-1) for W, b in parts)
    mixed = [(q[i] @ k[i].mT / sqrt(width)).softmax(dim=-1) @ v[i] for i in range(h)]
    y = cat(mixed, dim=-1) @ attention.proj.weight.T + attention.proj.bias
    return [(attention(x), y), (gradients(attention(x), attention), gradients(y, attention))]


@claim(
    x=tensors(4),
    examples=[{"x": tensor(features)} for features in ([0.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0])],  # at the edges
    place="Related work, Other architectures with similar components",
    printed="in self-attention the weights to aggregate information from other patches are data dependent through "
    "queries and keys",
)
def self_attention_weights_depend_on_data(x: Tensor) -> Sides:
    """In self-attention the weights that aggregate information from other patches depend on the data: with one channel
    and queries, keys and values that are the features themselves, patch 1 takes the plain mean of all patches where its
    feature is zero, and does not where it is not zero and the patches differ.
    """
    assume(x[0] != 0 and bool((x != x[0]).any()))
    attention = of_ones(Attention(1, 1, proj_bias=False))
    with_zero = cat([zeros(1), x[1:]])
    taken, taken_with_zero = (attention(features[None, :, None])[0, 0, 0] for features in (x, with_zero))
    return [strictly_below(1e-6, (taken - x.mean()).abs()), (taken_with_zero, with_zero.mean())]


@claim(
    layer=shared,
    X=tensors(patches, d),
    place="Related work, Other architectures with similar components",
    printed="in ResMLP the weights are not data dependent and only based on absolute positions of patches",
)
def weights_depend_on_no_data(layer: CrossPatch, X: Tensor) -> Sides:
    """The weights of the linear patch interaction layer do not depend on the data: whatever X is, patch n takes patch m
    with the weight A_nm.
    """
    return jacobian(layer, X[None])[0, :, 0, 0, :, 0], layer.a.weight
