"""Sec. 2, Eq. 2 and 3: the two sublayers, and the patches that they work on."""

import torch
from hypothesis import strategies as st
from torch import Tensor, eye
from torch.nn.functional import gelu

from imlp_audit.claims import Sides, claim, depends, gradients, modules, size, tensors
from imlp_audit.models.mixer import PatchEmbedding
from imlp_audit.models.new_modules import of_ones
from imlp_audit.models.resmlp import CrossPatch

from ..models import EquationLayer
from ._layer import aff, d, loaded, patches
from ._network import WEIGHTS

width, N2 = size("d", 1, 2, 192), size("N^2", 1, 4, 14 * 14)


@claim(
    X=tensors(2, width, N2, values=WEIGHTS),
    layer=modules(EquationLayer, width, N2, training=st.booleans(), values=WEIGHTS),
    share=0.3,
    place="Sec. 2, Eq. 2",
    printed="Z = X + Aff((A Aff(X)^T)^T)",
)
def eq2_cross_patch(X: Tensor, layer: EquationLayer) -> Sides:
    """The cross-patch sublayer adds to X an Aff of A times the transpose of another Aff of X, transposed back."""
    A = layer.get_parameter("across_patches.a.weight")
    Z = X + aff((A @ aff(X, layer.pre1).mT).mT, layer.post1)
    found = layer.cross_patch(X.mT).mT
    return [(found, Z), (gradients(found, layer), gradients(Z, layer))]


@claim(
    Z=tensors(2, width, N2, values=WEIGHTS),
    layer=modules(EquationLayer, width, N2, training=st.booleans(), values=WEIGHTS),
    share=0.3,
    place="Sec. 2, Eq. 3",
    printed="Y = Z + Aff(C GELU(B Aff(Z)))",
)
def eq3_feedforward(Z: Tensor, layer: EquationLayer) -> Sides:
    """The cross-channel sublayer adds to Z an Aff of C times GELU of B times another Aff of Z."""
    B, C = layer.get_parameter("across_channels.b.weight"), layer.get_parameter("across_channels.c.weight")
    Y = Z + aff(C @ gelu(B @ aff(Z, layer.pre2)), layer.post2)
    found = layer.cross_channel(Z.mT).mT
    return [(found, Y), (gradients(found, layer), gradients(Y, layer))]


@claim(
    Z=tensors(2, d, patches),
    layer=modules(EquationLayer, d, patches),
    place="Sec. 2, after Eq. 3",
    printed="Eq (3) is the same as the feedforward sublayer of a Transformer with the ReLU non-linearity replaced by "
    "a GELU function",
)
def eq3_is_a_transformer_feedforward(Z: Tensor, layer: EquationLayer) -> Sides:
    """Eq. 3 is the feedforward sublayer of a Transformer with GELU for ReLU: one patch's features z and, added to them,
    FFN(z) = W2 GELU(W1 z + b1) + b2. Read as: with each Aff as a part of the linear layer beside it, W1 = B
    Diag(alpha), b1 = B beta, W2 = Diag(alpha') C and b2 = beta', and without the Transformer's Layer Normalization,
    which Sec. 2 takes away before.
    """
    B, C = layer.get_parameter("across_channels.b.weight"), layer.get_parameter("across_channels.c.weight")
    alpha, beta = layer.pre2.get_parameter("alpha"), layer.pre2.get_parameter("beta")
    W1, b1 = B @ alpha.diag(), B @ beta
    W2, b2 = layer.post2.get_parameter("alpha").diag() @ C, layer.post2.get_parameter("beta")
    z = Z.mT  # features of one patch in each row
    return layer.cross_channel(z), z + gelu(z @ W1.T + b1) @ W2.T + b2


@claim(
    d=st.integers(1, 4),
    N=st.integers(1, 3),
    place="Sec. 2, after Eq. 3",
    printed="A: N^2 x N^2; B: 4d x d; C: d x 4d; Z has the same dimensions as the input and output matrices, X and Y",
)
def dimensions(d: int, N: int) -> Sides:
    """A is N^2 x N^2, B is 4d x d and C is d x 4d, as in a Transformer layer, and Z and Y have the dimensions of X."""
    layer, x = EquationLayer(d, N**2), torch.zeros(1, N**2, d)
    matrices = [weight for name, weight in layer.named_parameters() if name.endswith("weight")]
    found = [*matrices, layer.cross_patch(x)[0].T, layer(x)[0].T]
    printed = [(N**2, N**2), (4 * d, d), (d, 4 * d), (d, N**2), (d, N**2)]
    return torch.tensor([matrix.shape for matrix in found]), torch.tensor(printed)


@claim(
    Z=tensors(1, 4, d),
    layer=modules(EquationLayer, d, 4),
    place="Sec. 2, after Eq. 3",
    printed='the "cross-channel" feedforward sublayer works per location',
)
def cross_channel_works_per_location(Z: Tensor, layer: EquationLayer) -> Sides:
    """The cross-channel feedforward sublayer works per location: no patch's output has a derivative by another
    patch.
    """
    between = depends(layer.cross_channel, Z)[0, :, :, 0].any(dim=3).any(dim=1)
    return not bool((between & ~eye(4, dtype=torch.bool)).any())


_few = (1.0, 2.0)
_alike = tensors(2, values=_few).map(lambda ends: ends[0] * eye(4) + ends[1] * (1 - eye(4)))


@claim(
    A=st.one_of(_alike, tensors(4, 4, values=_few)),
    exchanged=st.sampled_from([(0, 1), (1, 2), (0, 3)]),
    place="Sec. 2, Differences with the Vision Transformer architecture; Appendix A, Position encoding",
    printed="no positional embedding: the linear layer implicitly encodes information about patch positions",
)
def linear_layer_encodes_positions(A: Tensor, exchanged: tuple[int, int]) -> Sides:
    """The linear layer encodes which patch is where: exchanging two patches exchanges two outputs only if A is the same
    with their rows exchanged and their columns exchanged.
    """
    order = list(range(4))
    order[exchanged[0]], order[exchanged[1]] = exchanged[1], exchanged[0]
    layer, x = loaded(CrossPatch(4, bias=False), {"a.weight": A}), eye(4)[None]
    outputs_are_exchanged = torch.equal(layer(x[:, order]), layer(x)[:, order])
    return outputs_are_exchanged, torch.equal(A[order][:, order], A)


@claim(
    N=size("N"),
    P=size("P", 1, 2),
    d=size("d", 1, 2),
    place="Sec. 2, The overall ResMLP architecture",
    printed="a grid of N x N non-overlapping patches; The patches are then independently passed through a linear "
    "layer to form a set of N^2 d-dimensional embeddings",
)
def patches_are_embedded_independently(N: int, P: int, d: int) -> Sides:
    """The image's N x N patches do not overlap and each is passed through the linear layer independently: an embedding
    depends on the pixels of its own patch and on no other.
    """
    embedding, image = of_ones(PatchEmbedding(P, d, image_channels=1)), torch.zeros(1, 1, N * P, N * P)
    found = depends(embedding, image)[0, :, :, 0, 0]  # N^2, d, height, width
    place = torch.arange(N * P) // P
    patch_of_pixel = N * place[:, None] + place
    return found, (patch_of_pixel == torch.arange(N**2)[:, None, None])[:, None].expand_as(found)
