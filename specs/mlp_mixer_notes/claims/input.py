"""The paragraph on the input: patches and their projection."""

import torch
from hypothesis import strategies as st
from torch import Tensor, einsum

from imlp_audit.claims import Sides, choice, claim, gradients, modules, tensors
from imlp_audit.models.mixer import PatchEmbedding

_any = st.integers(1, 8)


@claim(
    P=_any,
    grid=st.tuples(_any, _any),
    C=_any,
    place="paragraph on the input",
    printed="a sequence of S non-overlapping image patches, ... X in R^{S x C}; S = HW / P^2",
)
def patch_count(P: int, grid: tuple[int, int], C: int) -> Sides:
    """An image of H x W has S = HW / P^2 non-overlapping patches of P x P.

    Read as: P divides H and W; S is the number of rows of the table X that the patch embedding gives, S x C.
    """
    H, W = grid[0] * P, grid[1] * P
    with torch.device("meta"):
        embedding = PatchEmbedding(P, C)
        X = embedding(torch.empty(1, 3, H, W))
    return torch.tensor([*X.shape[1:], *embedding.proj.stride]), torch.tensor([H * W // P**2, C, P, P])


_sizes = choice("P, C, colors, rows, columns", (1, 1, 1, 1, 2), (2, 3, 1, 2, 1), (2, 2, 3, 2, 3), (16, 192, 3, 14, 14))


@claim(
    image=_sizes.flatmap(lambda n: tensors(2, n[2], n[3] * n[0], n[4] * n[0])),
    embedding=_sizes.flatmap(lambda n: modules(PatchEmbedding, *n[:3], training=st.booleans())),
    share=0.3,
    place="paragraph on the input",
    printed="All patches are linearly projected with the same projection matrix.",
)
def patch_projection(image: Tensor, embedding: PatchEmbedding) -> Sides:
    """All patches are projected linearly with the same matrix.

    Read as: each of the C numbers of a patch is its own sum over the patch's pixels, with weights that are the same for
    all patches, plus a bias.
    """
    weight, bias = embedding.proj.weight, embedding.proj.get_parameter("bias")
    P = weight.shape[-1]
    patches = image.unfold(2, P, P).unfold(3, P, P).flatten(2, 3)  # batch, colors, S, P, P
    X, printed = embedding(image), einsum("ckij,bksij->bsc", weight, patches) + bias
    return [(X, printed), (gradients(X, embedding), gradients(printed, embedding))]
