"""Appendix A: an MLP for self-attention, position encoding, and normalizations."""

import torch
from hypothesis import strategies as st
from timm.models.cait import ClassAttn, TalkingHeadAttn
from torch import Tensor, eye, stack
from torch.nn.functional import gelu

from imlp_audit.claims import Sides, choice, claim, depends, gradients, modules, parameters, size, tensors
from imlp_audit.models.blocks import Norm
from imlp_audit.models.new_modules import is_normal, refuses, starts_as_torchs
from imlp_audit.models.resmlp import PRE_NORMS, ClassPooling, CrossPatchMlp, FeedForward

from ..models import AlgorithmLayer, CaitChain, CaitStage
from ._layer import loaded
from ._network import WEIGHTS

_n, _few_n, _d = size("N", 1, 2, 14 * 14), size("N"), size("d", 1, 3)


@claim(
    x=tensors(2, _n, _d),
    module=modules(CrossPatchMlp, _n, training=st.booleans(), values=WEIGHTS),
    share=0.3,
    place="Appendix A, first paragraphs",
    printed="()^T - linear N x 4N - GELU - linear 4N x N - ()^T",
)
def appendix_mlp_across_patches(x: Tensor, module: CrossPatchMlp) -> Sides:
    """The MLP that replaces self-attention is the transposition, a linear layer from N to 4N, GELU, a linear layer from
    4N to N, and the transposition back: each channel is mixed across patches by the same MLP.
    """
    names = ("mlp.b.weight", "mlp.b.bias", "mlp.c.weight", "mlp.c.bias")
    first, first_bias, last, last_bias = (module.get_parameter(name) for name in names)
    channels = [gelu(channel @ first.T + first_bias) @ last.T + last_bias for channel in x.unbind(dim=2)]
    found, printed = module(x), stack(channels, dim=2)
    return [(found, printed), (gradients(found, module), gradients(printed, module))]


@claim(
    x=tensors(2, _few_n, size("d")),
    across_patches=modules(CrossPatchMlp, _few_n),
    place="Appendix A, first paragraphs",
    printed="Hence this network is symmetrical in N and d",
)
def appendix_mlps_are_symmetrical(x: Tensor, across_patches: CrossPatchMlp) -> Sides:
    """The network with an MLP for self-attention is symmetrical in N and d. Read as: of its two MLPs alone, of N
    patches and d channels, the one across patches does what the one across channels does of d patches and N channels,
    and the parameters of both are as many where N and d are exchanged. (Normalisations and scales of channels are not.)
    """
    _, N, d = x.shape
    across_channels = loaded(FeedForward(N, bias=True), across_patches.mlp.state_dict())

    def count(N: int, d: int) -> int:
        return parameters(lambda: CrossPatchMlp(N)) + parameters(lambda: FeedForward(d, bias=True))

    return [(across_patches(x), across_channels(x.mT).mT), (count(N, d), count(d, N))]


def _grid(patch: int) -> Tensor:
    """How many patches of patch x patch pixels an image of 224 x 224 has down and across."""
    image = torch.zeros(1, 1, 224, 224)
    return torch.tensor(torch.nn.functional.conv2d(image, torch.zeros(1, 1, patch, patch), stride=patch).shape[2:])


@claim(
    place="Appendix A, first paragraphs, and Sec. 2, The overall ResMLP architecture",
    printed="images in resolution 224 x 224 and N = 16 x 16 patches (N being how many there are: linear N x 4N); the "
    "patch size is typically equal to 16 x 16",
    nearest="grid_of_16_by_16_patches_corrected",
)
def grid_of_16_by_16_patches() -> Sides:
    """An image of 224 x 224 in patches of the typical size, 16 x 16, is N = 16 x 16 patches."""
    return _grid(16), torch.tensor([16, 16])


@claim(
    place="Appendix A, first paragraphs, and Sec. 2, The overall ResMLP architecture",
    corrected="images in resolution 224 x 224 and N = 14 x 14 patches of 16 x 16",
)
def grid_of_16_by_16_patches_corrected() -> Sides:
    """An image of 224 x 224 in patches of the typical size, 16 x 16, is N = 14 x 14 patches; 16 x 16 patches would have
    14 x 14 pixels each.
    """
    return [(_grid(16), torch.tensor([14, 14])), (_grid(14), torch.tensor([16, 16]))]


_different = st.permutations([0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0]).map(lambda numbers: torch.tensor(numbers[:4]))


@claim(
    A=tensors(4, 4),
    bias=_different,
    place="Appendix A, Position encoding",
    printed="additionally the linear includes a bias that makes it possible to differentiate the patch positions "
    "before the shared linear layer",
)
def bias_tells_patches_apart(A: Tensor, bias: Tensor) -> Sides:
    """The linear layer's bias makes it possible to tell patch positions apart before the shared linear layer: of
    patches that are all zero, Algorithm 1's new layer (whose linear layers have biases, unlike Eq. 2's A) makes
    different ones wherever the biases differ.
    """
    weights = {"across_patches.a.weight": A, "across_patches.a.bias": bias}
    layer = loaded(AlgorithmLayer(1, 4, scale=1.0), weights)
    z = layer.cross_patch(torch.zeros(1, 4, 1)).flatten()
    return bool((z[:, None] != z)[~eye(4).bool()].all())


@claim(
    stage=choice("stage", *CaitStage),
    place="Appendix A, second paragraph",
    printed="This network consists of 24-layer with a working dimension of 384. All our experiments below were "
    "carried out with images in resolution 224x224",
)
def appendix_chain_by_default(stage: CaitStage) -> Sides:
    """The chain starts with CaiT-S24: 24 layers of width 384, with 8 heads and two layers for the class token, on
    patches of 16 x 16 pixels of images of 224 x 224; each stage keeps these sizes.

    Read as: heads, class layers and patches are those of CaiT (arXiv 2103.17239, Table 1); ImageNet has 1000 classes.
    Positions start with a standard deviation of 0.02, the class token with 0, linear layers and norms as torch's.
    """
    with torch.device("meta"):
        network = CaitChain(stage=stage)
    assert isinstance(network.pool, ClassPooling)
    layers, class_layers = len(network.blocks), len(network.pool.layers) - 1  # the last is a norm
    heads = [module.num_heads for module in network.modules() if isinstance(module, TalkingHeadAttn | ClassAttn)]
    attentions = {CaitStage.ATTENTION: 24 + 2, CaitStage.PATCH_MLP: 2}.get(stage, 0)
    shapes = [*network.stem.proj.weight.shape, *network.positions.shape, *network.head.weight.shape]
    printed = [24, 2, 384, 3, 16, 16, 14 * 14, 384, 1000, 384, *[8] * attentions]
    has_mlp = stage in (CaitStage.PATCH_MLP, CaitStage.CLASS_MLP)
    narrow = CaitChain(stage=stage, layers=1, width=64, size=(112, 112))
    return [
        (torch.tensor([layers, class_layers, *shapes, *heads]), torch.tensor(printed)),
        network.example_inputs(1)[0].shape == (1, 3, 224, 224),
        (narrow.pool.get_parameter("token"), torch.zeros(64)),
        *is_normal(narrow.positions, 0.02),
        *starts_as_torchs(narrow),
        str(narrow) == str(CaitChain(stage, 1, 64, 8, 16, None, "layer", "gelu", None, (112, 112), 1000)),
        refuses(lambda: CaitChain(stage, 1, 8, expansion=2, size=(32, 32))) != has_mlp,
    ]


_statistics = {  # of the batch, and of the channels
    Norm.AFF: (False, False),
    Norm.LAYER: (False, True),
    Norm.BATCH: (True, False),
    Norm.L2: (False, True),
}
_token = st.permutations([1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1.5]).map(lambda numbers: numbers[:3])


@claim(
    norm=choice("norm", *Norm),
    x=st.tuples(_token, _token, _token).map(torch.tensor),
    place="Appendix A, Normalization",
    printed="For the sake of simplicity, we therefore adopted only the Aff transformation so as to not depend on any "
    "batch or channel statistics",
)
def appendix_norms_and_their_statistics(norm: Norm, x: Tensor) -> Sides:
    """Of the four pre-normalizations that are compared, Aff alone depends on no statistics: BatchNorm depends on those
    of the batch, LayerNorm and l2, which divides by the l2 norm of a token's channels, on those of the channels.

    Read as: in training, an output has a derivative by another sample, or by another channel of its own.
    """
    links = depends(PRE_NORMS[norm](3).train(), x[:, None])[:, 0, :, :, 0]  # sample, channel, by sample, channel
    between = (links.any(dim=3).any(dim=1) & ~eye(3).bool()).any()
    own = torch.stack([links[sample, :, sample] for sample in range(3)]).any(dim=0)
    of_channels = (own & ~eye(3).bool()).any()
    return torch.tensor([bool(between), bool(of_channels)]), torch.tensor(_statistics[norm])


@claim(
    x=tensors(2, size("tokens", 1, 14 * 14), size("d", 1, 3, 192), values=WEIGHTS),
    scale=choice("scale", 1.0, 2.0**-10, 2.0**-30),  # torch divides by at least 1e-12: no token here is as short
    place='Appendix A, Normalization, the row "l2"',
    corrected="l2(x) = x / ||x||_2",
)
def appendix_l2_norm(x: Tensor, scale: float) -> Sides:
    """The pre-normalization l2 of the table divides a token by the l2 norm of its channels, without a learned scale.

    Read as: the row names the norm alone; the layer that it stands in is CaiT's, with LayerScale after each sublayer.
    """
    x = scale * x
    return PRE_NORMS[Norm.L2](x.shape[-1])(x), x / x.square().sum(dim=-1, keepdim=True).sqrt()
