"""Sec. 2 and 3.3, Table 3 and Appendix A: average pooling, communication across patches, and what it costs."""

from collections.abc import Callable
from functools import partial

import torch
from hypothesis import strategies as st
from torch import Tensor, nn, stack, zeros
from torch.nn.functional import relu

from imlp_audit.claims import (
    Sides,
    choice,
    claim,
    depends,
    gradients,
    macs,
    modules,
    parameters,
    size,
    strictly_below,
    tensors,
)
from imlp_audit.models.new_modules import of_ones, refuses
from imlp_audit.models.resmlp import (
    AveragePooling,
    CrossPatch,
    CrossPatchMlp,
    FeedForward,
    LayerScale,
    OnGrid,
    ResMlpLayer,
)

from ..models import AlgorithmLayer, EquationLayer
from ._layer import d, eq3, loaded
from ._network import WEIGHTS

_WIDTH, _PATCHES = 384, 14 * 14  # ResMLP-S12's


@claim(
    embeddings=tensors(2, size("N^2", 1, 4, 28 * 28), size("d", 1, 3, _WIDTH)),
    place="Sec. 2, The overall ResMLP architecture",
    printed='These output embeddings are then averaged ("average-pooling") as a d-dimension vector to represent the '
    "image",
)
def average_pooling(embeddings: Tensor) -> Sides:
    """The image is represented by the average of its patches' embeddings, channel by channel."""
    n = embeddings.shape[1]
    return AveragePooling()(embeddings), sum(embeddings[:, i] for i in range(n)) / n


_grids = choice("grid", (1, 3), (2, 3), (3, 2), (14, 14))


@claim(
    grid=_grids,
    kernel=tensors(3, 3),
    x=_grids.flatmap(lambda grid: tensors(2, *grid, 2)),
    place="Sec. 3.3, Table 3, Patch communication",
    printed="linear layer -> 3 x 3 depth-wise convolution",
)
def communication_by_convolution(grid: tuple[int, int], kernel: Tensor, x: Tensor) -> Sides:
    """Where a convolution replaces the linear layer, patches communicate with their neighbours on the grid, channel by
    channel where it is depthwise.

    Read as: patches are the grid row by row; beyond it are zeros. A second channel has the negative kernel.
    """
    (H, W), kernels = grid, stack([kernel, -kernel])
    convolution = loaded(nn.Conv2d(2, 2, 3, padding=1, groups=2, bias=False), {"weight": kernels[:, None]})
    padded = nn.functional.pad(x, (0, 0, 1, 1, 1, 1))
    neighbours = [(i, j) for i in range(3) for j in range(3)]
    summed = stack([kernels[:, i, j] * padded[:, i : i + H, j : j + W] for i, j in neighbours]).sum(dim=0)
    return OnGrid(grid, convolution)(x.flatten(1, 2)), summed.flatten(1, 2)


def _bag_of_patches(d: int) -> ResMlpLayer:
    return ResMlpLayer(d, None, FeedForward(d, 2, bias=False, activation=nn.ReLU), partial(LayerScale, d, 1.0))


_widths = size("d", 1, 2, 192)


@claim(
    X=tensors(2, 2, _widths),
    layer=modules(_bag_of_patches, _widths, training=st.booleans(), values=WEIGHTS),
    place="Sec. 3.3, Table 3, Patch communication",
    corrected="Y = X + alpha' C ReLU(B (alpha X + beta)), patch by patch",
)
def communication_none(X: Tensor, layer: ResMlpLayer) -> Sides:
    """Where the linear layer is removed, a layer is its MLP beside the skip, and no patch sees another.

    Tested with ReLU in place of GELU.
    """
    names = ("pre2.alpha", "pre2.beta", "post2.alpha", "across_channels.b.weight", "across_channels.c.weight")
    alpha, beta, scale, B, C = (layer.get_parameter(name) for name in names)
    Y, found = X + scale * (relu((alpha * X + beta) @ B.T) @ C.T), layer(X)
    return [(found, Y), (gradients(found, layer), gradients(Y, layer))]


@claim(
    Z=tensors(2, d, 4),
    layer=modules(EquationLayer, d, 4),
    order=st.permutations(range(4)),
    place="Sec. 3.3, Communication across patches",
    printed="if we remove the linear interaction layer (linear -> none), we obtain substantially lower accuracy for "
    'a "bag-of-patches" approach',
)
def no_interaction_is_a_bag_of_patches(Z: Tensor, layer: EquationLayer, order: list[int]) -> Sides:
    """Without the linear interaction layer the network is a bag of patches: the average of the patches that come out of
    the cross-channel sublayer does not depend on their order.
    """
    return layer.cross_channel(Z.mT[:, order]).mean(dim=1), eq3(Z, layer).sum(dim=2) / 4


@claim(
    N=st.integers(1, 5),
    place="Sec. 3.3, Communication across patches",
    printed="The simpler choice of a single linear square layer requires fewer parameters than a residual MLP block",
)
def linear_layer_has_fewer_parameters(N: int) -> Sides:
    """The single linear square layer across patches has fewer parameters than the residual MLP block with four times as
    many hidden units, with the biases of both or without.
    """
    linear, mlp = CrossPatch(N**2, bias=True), CrossPatchMlp(N**2)

    def weights(module: nn.Module) -> int:
        return sum(weight.numel() for weight in module.parameters() if weight.ndim > 1)

    return [
        strictly_below(parameters(lambda: linear), parameters(lambda: mlp)),
        strictly_below(weights(linear), weights(mlp)),
    ]


def _cost(*communication: Callable[[], nn.Module]) -> tuple[int, int]:
    """Parameters and multiply-accumulates of a layer of ResMLP-S12, with Algorithm 1's biases and scales."""

    def layer() -> nn.Module:
        across_patches = nn.Sequential(*(make() for make in communication))
        scale = partial(LayerScale, _WIDTH, 1e-4)
        return ResMlpLayer(_WIDTH, across_patches, FeedForward(_WIDTH, bias=True), scale)

    return parameters(layer), macs(layer, 1, _PATCHES, _WIDTH)


_linear = partial(CrossPatch, _PATCHES, bias=True)


@claim(
    layers=choice("layers", 12),
    place="Sec. 3.3, Communication across patches",
    printed="considering that the MLP variant requires compute halfway between ResMLP-S12 and ResMLP-S24",
)
def communication_mlp_costs_halfway(layers: int) -> Sides:
    """With the MLP for the linear patch communication, ResMLP-S12 requires compute halfway between ResMLP-S12 and
    ResMLP-S24. Read as: the work of its layers is nearer to the middle than to either of them.
    """
    s12 = layers * _cost(_linear)[1]
    variant, s24 = layers * _cost(lambda: CrossPatchMlp(_PATCHES))[1], 2 * s12
    from_middle = abs(variant - 3 * s12 // 2)
    return [strictly_below(from_middle, abs(variant - s12)), strictly_below(from_middle, abs(variant - s24))]


@claim(
    e=choice("e", 0.25, 0.5, 1, 2, 3, 4),
    place="Appendix A, Ablation on the size of the communication MLP",
    printed="linear N x e x N - GELU - linear e x N x N",
)
def communication_mlp_sizes(e: float) -> Sides:
    """The MLP that mixes N patches with an expansion factor e is a linear layer from N to e N, GELU, and a linear layer
    from e N to N, for the factors that the paper tries and its 14 x 14 patches: e N is an integer. A factor that leaves
    no hidden unit is refused.
    """
    mlp, N, patches = CrossPatchMlp(_PATCHES, e).mlp, _PATCHES, range(1, 6)
    found = torch.tensor([mlp.b.weight.shape, mlp.c.weight.shape])
    refused = [refuses(partial(CrossPatchMlp, n, e)) for n in patches] == [e * n < 1 for n in patches]
    return [(found.double(), torch.tensor([(e * N, N), (N, e * N)])), refused]


def _times(*convolutions: Callable[[], nn.Module]) -> Tensor:
    """How many times the parameters and the work of ResMLP's layer a layer with convolutions has, rounded."""
    linear = _cost(_linear)
    variant = _cost(lambda: OnGrid((14, 14), *(make() for make in convolutions)))
    return torch.tensor([round(ours / theirs) for ours, theirs in zip(variant, linear, strict=True)])


def _convolution(groups: int = 1) -> nn.Conv2d:
    return nn.Conv2d(_WIDTH, _WIDTH, 3, padding=1, groups=groups)


@claim(
    place="Sec. 3.3, Communication across patches",
    printed="The depth-wise convolution yields similar performance at a comparable number of parameters and FLOPs",
)
def convolution_depthwise_costs_the_same() -> Sides:
    """A layer with a depth-wise 3 x 3 convolution for the linear patch communication has a comparable number of
    parameters and FLOPs. Read as: of a layer of ResMLP-S12, the ratios of both round to 1.
    """
    return _times(lambda: _convolution(groups=_WIDTH)), torch.tensor([1, 1])


@claim(
    place="Sec. 3.3, Communication across patches",
    printed="While full 3 x 3 convolutions yield best results, they come with roughly double the number of "
    "parameters and FLOPs",
)
def convolution_full_doubles_costs() -> Sides:
    """A layer with a full 3 x 3 convolution for the linear patch communication has roughly double the parameters and
    the FLOPs. Read as: of a layer of ResMLP-S12, the ratios of both round to 2.
    """
    return _times(_convolution), torch.tensor([2, 2])


@claim(
    place="Sec. 3.3, Communication across patches",
    printed="the depth-separable convolutions combine accuracy close to that of full 3 x 3 convolutions with a "
    "number of parameters and FLOPs comparable to our linear layer",
)
def convolution_separable_costs_the_same() -> Sides:
    """A layer with a depth-separable 3 x 3 convolution, a depth-wise one and then a 1 x 1 one, has a number of
    parameters and FLOPs comparable to the linear layer. Read as: of a layer of ResMLP-S12, the ratios of both round to
    1.
    """
    one_by_one = partial(nn.Conv2d, _WIDTH, _WIDTH, 1)
    return _times(lambda: _convolution(groups=_WIDTH), one_by_one), torch.tensor([1, 1])


@claim(
    width=size("width", 384, 768),
    patch=size("patch", 32, 16),
    smaller=size("smaller patch", 14, 8),
    place="Sec. 3.4, Patch size",
    printed="Smaller patches significantly increase the performance, but also increase the number of flops",
)
def smaller_patches_cost_more(width: int, patch: int, smaller: int) -> Sides:
    """Smaller patches increase the number of FLOPs: a layer takes more multiply-accumulates where the grid is finer."""
    patches, more_patches = (224 // patch) ** 2, (224 // smaller) ** 2
    work = macs(lambda: AlgorithmLayer(width, patches), 1, patches, width)
    more_work = macs(lambda: AlgorithmLayer(width, more_patches), 1, more_patches, width)
    return strictly_below(work, more_work)


@claim(
    d=size("d"),
    N=size("N"),
    place="Sec. 3.3, Communication across patches",
    printed="The depth-wise convolution does not implement interaction across channels - as our linear patch "
    "communication layer",
)
def depthwise_convolution_mixes_no_channels(d: int, N: int) -> Sides:
    """Like the linear patch communication layer, a depth-wise 3 x 3 convolution implements no interaction across
    channels: no channel's output has a derivative by another channel. With a full convolution every channel's output
    has.
    """
    linear, image = of_ones(CrossPatch(N**2, bias=False)), zeros(1, d, N, N)

    def on_patches(x: Tensor) -> Tensor:
        patches: Tensor = linear(x.flatten(2).mT)
        return patches.mT.reshape(x.shape)

    def channels(layer: Callable[[Tensor], Tensor]) -> Tensor:
        """Which channel depends on which, over all patches."""
        return depends(layer, image)[0, :, :, :, 0].flatten(1, 2).any(dim=1).flatten(2).any(dim=2)

    depthwise, full = of_ones(nn.Conv2d(d, d, 3, padding=1, groups=d)), of_ones(nn.Conv2d(d, d, 3, padding=1))
    own = torch.eye(d).bool()
    return [(channels(on_patches), own), (channels(depthwise), own), (channels(full), torch.ones(d, d).bool())]
