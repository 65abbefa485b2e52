"""Sec. 2.1, second paragraph: patches and their projection."""

from operator import itemgetter

import torch
import torch.nn.functional as F
from hypothesis import strategies as st
from torch import Tensor, einsum

from imlp_audit.claims import Sides, choice, claim, modules, tensors
from imlp_audit.models.mixer import PatchEmbedding

from ._formulas import agree

STARTS = choice("patch", (2, 1), (3, 1), (4, 2), (4, 1))  # s divides P, so that the patches cover the image


@claim(
    patch=STARTS,
    rows=st.integers(2, 4),
    columns=st.integers(1, 4),
    place="Sec. 2.1, second paragraph",
    printed="Каждое, из которых разбивается на пересекающиеся патчи размера P x P. Получим, что их общее количество "
    "равно S = HW / P^2.",
    nearest="patches_count_corrected",
)
def patches_count(patch: tuple[int, int], rows: int, columns: int) -> Sides:
    """An H x W image is split into S = HW / P^2 overlapping patches of P x P.

    Read as: the patches start every s pixels in both directions, s < P, and cover the image exactly.
    """
    P, s = patch
    H, W = rows * P, columns * P
    return F.unfold(torch.zeros(1, 1, H, W), P, stride=s).shape[-1], H * W // P**2


@claim(
    P=st.integers(1, 16),
    rows=st.integers(1, 16),
    columns=st.integers(1, 16),
    place="Sec. 2.1, second paragraph; Sec. 3 says that the patches do not overlap",
    corrected="the patches do not overlap; S = HW / P^2",
)
def patches_count_corrected(P: int, rows: int, columns: int) -> Sides:
    """An H x W image is split into S = HW / P^2 patches of P x P that do not overlap.

    Read as: P divides H and W; S is the number of rows that the patch embedding gives.
    """
    H, W = rows * P, columns * P
    with torch.device("meta"):
        embedding = PatchEmbedding(P, channels=2)
        X = embedding(torch.empty(1, 3, H, W))
    return [(X.shape[1], H * W // P**2), embedding.proj.stride == embedding.proj.kernel_size]


# small, and of 14 x 14 patches projected as DeiT-Ti has them
SIZES = choice("(P, rows, columns, C)", (1, 2, 1, 2), (2, 1, 3, 1), (2, 3, 2, 3), (3, 1, 2, 2), (16, 14, 14, 192))
H, W, P, C = (SIZES.map(part) for part in (lambda n: n[1] * n[0], lambda n: n[2] * n[0], itemgetter(0), itemgetter(3)))


@claim(
    image=tensors(2, 3, H, W),
    embedding=modules(PatchEmbedding, P, C),
    share=0.4,
    place="Sec. 2.1, second paragraph",
    printed="Все патчи линейно проецируются в вектор размерности C. Данную операцию можно сделать свёрткой с "
    "размером ядра P и шагом P.",
)
def patches_convolution(image: Tensor, embedding: PatchEmbedding) -> Sides:
    """Projecting every patch with one matrix is a convolution with kernel P and stride P.

    Read as: each channel of the projection is its own sum over the patch's pixels, the same for all patches, plus a
    bias.
    """
    w, b = embedding.parameters()
    P = w.shape[-1]
    patches = image.unfold(2, P, P).unfold(3, P, P)  # batch, channels, rows, columns, P, P
    X = (einsum("nkijyx,ckyx->nijc", patches, w) + b).flatten(1, 2)
    return agree(embedding, image, X)
