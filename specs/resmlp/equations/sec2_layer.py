"""Sec. 2, Eq. 2 and 3: the two sublayers, and the patches that they work on."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.dependence import depends
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.matrix import RoundedMatrix, add
from imlp_audit.equations.rounded import Rounded
from imlp_audit.equations.strategies import Matrix, matrices
from imlp_audit.models.mixer import PatchEmbedding
from imlp_audit.models.resmlp import CrossPatch, EquationLayer

from ._layer import (
    CrossPatchCase,
    FeedForwardCase,
    Values,
    batch_of,
    cross_patches,
    feedforwards,
    loaded,
    matrix_of,
)
from ._size import Size, sizes


@claim(cross_patches(), proof=Proof("all numbers", CrossPatchCase.sizes))
def eq2_cross_patch(case: CrossPatchCase, arithmetic: Arithmetic) -> Trial:
    """The cross-patch sublayer adds to X an Aff of A times the transpose of another Aff of X, transposed back.

    Place: Sec. 2, Eq. 2
    Printed: Z = X + Aff((A Aff(X)^T)^T)
    Bound: gamma_{N^2+5} times the magnitudes of all products: two Affs, a sum of N^2, and the skip
    """
    # Hold the layer's sublayer against Eq. 2.
    z = matrix_of(case.module(arithmetic).cross_patch(batch_of(case.x, arithmetic)))
    return equal(z, case.printed(arithmetic), **case.shown())


@claim(feedforwards(), proof=Proof("all numbers and any activation", FeedForwardCase.sizes))
def eq3_feedforward(case: FeedForwardCase, arithmetic: Arithmetic) -> Trial:
    """The cross-channel sublayer adds to Z an Aff of C times GELU of B times another Aff of Z.

    Place: Sec. 2, Eq. 3
    Printed: Y = Z + Aff(C GELU(B Aff(Z)))
    Bound: gamma_{d+2} times the magnitudes under GELU, times its largest slope, then gamma_{4d+4} times those of the
        sum
    """
    # Hold the layer's sublayer against Eq. 3.
    y = matrix_of(case.module(arithmetic).cross_channel(batch_of(case.z, arithmetic)))
    return equal(y, case.printed(arithmetic), **case.shown())


@claim(feedforwards(), proof=Proof("all numbers and any activation", FeedForwardCase.sizes))
def eq3_is_a_transformer_feedforward(case: FeedForwardCase, arithmetic: Arithmetic) -> Trial:
    """Eq. 3 is the feedforward sublayer of a Transformer with GELU for ReLU: one patch's features z and, added to them,
    FFN(z) = W2 GELU(W1 z + b1) + b2. Read as: with each Aff as a part of the linear layer beside it, W1 = B
    Diag(alpha), b1 = B beta, W2 = Diag(alpha') C and b2 = beta', and without the Transformer's Layer Normalization,
    which Sec. 2 takes away before.

    Place: Sec. 2, after Eq. 3
    Printed: Eq (3) is the same as the feedforward sublayer of a Transformer with the ReLU non-linearity replaced by a
        GELU function
    Bound: gamma_{d+2} times the magnitudes under GELU, times its largest slope, then gamma_{4d+4} times those of the
        sum
    """
    # Hold the layer's sublayer against a Transformer's.
    b, c = arithmetic.matrix(case.b), arithmetic.matrix(case.c)
    w1 = RoundedMatrix([weight * alpha for weight, alpha in zip(row, case.before.alpha, strict=True)] for row in b)
    w2 = RoundedMatrix([weight * alpha for weight in row] for row, alpha in zip(c, case.after.alpha, strict=True))
    b1, b2 = b @ arithmetic.vector(case.before.beta), arithmetic.vector(case.after.beta)

    def ffn(z: list[Rounded]) -> list[Rounded]:
        return add(w2 @ [gelu(number) for number in add(w1 @ z, b1)], b2)

    transformer = arithmetic.matrix(case.z) + arithmetic.matrix(case.z).T.map_rows(ffn).T
    y = case.module(arithmetic).cross_channel(batch_of(case.z, arithmetic))
    return equal(matrix_of(y), transformer, **case.shown())


@claim(sizes())
def dimensions(case: Size, arithmetic: Arithmetic) -> Trial:
    """A is N^2 x N^2, B is 4d x d and C is d x 4d, as in a Transformer layer, and Z and Y have the dimensions of X.

    Place: Sec. 2, after Eq. 3
    Printed: A: N^2 x N^2; B: 4d x d; C: d x 4d; Z has the same dimensions as the input and output matrices, X and Y
    Bound: none: dimensions are integers
    """
    # Hold the shapes of the layer's matrices and features against the printed ones.
    d, patches = case.d, case.patches
    layer, x = loaded(EquationLayer(d, patches), {}, arithmetic), arithmetic.tensor([[[0.0] * d] * patches])
    shapes = {name: tuple(weight.shape) for name, weight in layer.named_parameters() if name.endswith("weight")}
    shapes["Z"] = tuple(matrix_of(layer.cross_patch(x)).shape)
    shapes["Y"] = tuple(matrix_of(layer(x)).shape)
    printed = {
        "across_patches.a.weight": (patches, patches),
        "across_channels.b.weight": (4 * d, d),
        "across_channels.c.weight": (d, 4 * d),
        "Z": (d, patches),
        "Y": (d, patches),
    }
    return Trial(shapes == printed, {"d": d, "N": case.side, "dimensions": shapes, "printed": printed})


@claim(feedforwards(patches=(4,)))
def cross_channel_works_per_location(case: FeedForwardCase, arithmetic: Arithmetic) -> Trial:
    """The cross-channel feedforward sublayer works per location: no patch's output has a derivative by another patch.

    Place: Sec. 2, after Eq. 3
    Printed: the "cross-channel" feedforward sublayer works per location
    Bound: none: a derivative is exactly zero or it is not
    """
    # Look for derivatives between two patches.
    sublayer = case.module(arithmetic).cross_channel
    found = depends(sublayer, batch_of(case.z, arithmetic))[0, :, :, 0].any(dim=3).any(dim=1)
    patches = range(len(found))
    leaks = [[n + 1, m + 1] for n in patches for m in patches if n != m and found[n, m]]
    return Trial(not leaks, {**case.shown(), "patches that depend on others": leaks})


@dataclass(frozen=True)
class Exchange:
    """A on 2 x 2 patches, and which two patches are exchanged."""

    a: Matrix
    pair: tuple[int, int]


def _often_symmetric() -> st.Strategy[Matrix]:
    few = st.sampled_from((1.0, 2.0))
    alike = st.tuples(few, few).map(
        lambda ends: tuple(tuple(ends[0] if n == m else ends[1] for m in range(4)) for n in range(4))
    )
    return st.one_of(alike, matrices(4, 4, few))


@claim(st.builds(Exchange, _often_symmetric(), st.sampled_from(((0, 1), (1, 2), (0, 3)))))
def linear_layer_encodes_positions(case: Exchange, arithmetic: Arithmetic) -> Trial:
    """The linear layer encodes which patch is where: exchanging two patches exchanges two outputs only if A is the same
    with their rows exchanged and their columns exchanged.

    Place: Sec. 2, Differences with the Vision Transformer architecture; Appendix A, Position encoding
    Printed: no positional embedding: the linear layer implicitly encodes information about patch positions
    Bound: none: each output is one weight
    """
    # Hold whether the layer commutes with the exchange, on a channel for each patch, against A's symmetry.
    order = list(range(4))
    order[case.pair[0]], order[case.pair[1]] = case.pair[1], case.pair[0]
    weights: dict[str, Values] = {"a.weight": case.a}
    module = loaded(CrossPatch(4, bias=False), weights, arithmetic)
    patches = arithmetic.tensor([torch.eye(4).tolist()])
    commutes = torch.equal(module(patches[:, order]), module(patches)[:, order])
    symmetric = all(case.a[order[n]][order[m]] == case.a[n][m] for n in range(4) for m in range(4))
    return Trial(commutes == symmetric, {"A": case.a, "exchanged": case.pair, "outputs are exchanged": commutes})


@dataclass(frozen=True)
class Grid:
    """N patches a side, of so many pixels a side, and the width d."""

    side: int
    patch: int
    d: int


@claim(st.builds(Grid, st.integers(1, 3), st.integers(1, 2), st.integers(1, 2)))
def patches_are_embedded_independently(case: Grid, arithmetic: Arithmetic) -> Trial:
    """The image's N x N patches do not overlap and each is passed through the linear layer independently: an embedding
    depends on the pixels of its own patch and on no other.

    Place: Sec. 2, The overall ResMLP architecture
    Printed: a grid of N x N non-overlapping patches; The patches are then independently passed through a linear layer
        to form a set of N^2 d-dimensional embeddings
    Bound: none: a derivative is exactly zero or it is not
    """
    # Hold which embedding depends on which pixel, with weights of 1, against whose patch the pixel is in.
    embedding = PatchEmbedding(case.patch, case.d, image_channels=1)
    nn.init.ones_(embedding.proj.weight)
    pixels = case.side * case.patch
    image = arithmetic.tensor([[[[0.0] * pixels] * pixels]])
    found = depends(arithmetic.place(embedding), image)[0, :, :, 0, 0]

    of_pixel = torch.arange(pixels, device=image.device) // case.patch
    patch_of_pixel = case.side * of_pixel[:, None] + of_pixel
    patches = torch.arange(case.side**2, device=image.device)
    own = (patch_of_pixel == patches[:, None, None])[:, None].expand(-1, case.d, -1, -1)
    return Trial(torch.equal(found, own), {"N": case.side, "pixels of a patch": case.patch**2, "d": case.d})
