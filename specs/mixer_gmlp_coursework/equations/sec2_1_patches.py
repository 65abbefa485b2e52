"""Sec. 2.1, second paragraph: patches and their projection."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.patches import Projection, projections
from imlp_audit.errors import BuildError
from imlp_audit.models.mixer import PatchEmbedding, number_of_patches


@dataclass(frozen=True)
class Image:
    """An image of `rows` x `columns` times P pixels, and patches that start every `stride` pixels."""

    patch: int
    stride: int
    rows: int
    columns: int


_patches = st.sampled_from([(2, 1), (3, 1), (4, 2), (4, 1)])  # s divides P, so that the patches cover the image


@claim(_patches.flatmap(lambda size: st.builds(Image, *map(st.just, size), st.integers(2, 4), st.integers(1, 4))))
def patches_count(case: Image, arithmetic: Arithmetic) -> Trial:
    """An H x W image is split into S = HW / P^2 overlapping patches of P x P.

    Read as: the patches start every s pixels in both directions, s < P, and cover the image exactly.

    Place: Sec. 2.1, second paragraph
    Printed: Каждое, из которых разбивается на пересекающиеся патчи размера P x P. Получим, что их общее количество
        равно S = HW / P^2.
    Nearest: patches_count_corrected
    Bound: none: patches are counted
    """
    # Count the patches.
    height, width = case.rows * case.patch, case.columns * case.patch
    image = arithmetic.tensor([[[[0.0] * width] * height]])
    count = F.unfold(image, kernel_size=case.patch, stride=case.stride).shape[-1]
    printed = height * width // case.patch**2
    shown = {"H": height, "W": width, "P": case.patch, "patches start every": case.stride}
    return Trial(count == printed, {**shown, "patches": count, "HW / P^2": printed})


@claim(st.tuples(st.integers(1, 16), st.integers(1, 16), st.integers(1, 16)))
def patches_count_corrected(case: tuple[int, int, int], arithmetic: Arithmetic) -> Trial:
    """An H x W image is split into S = HW / P^2 patches of P x P that do not overlap.

    Read as: P divides H and W; S is the number of rows that the patch embedding gives.

    Place: Sec. 2.1, second paragraph; Sec. 3 says that the patches do not overlap
    Corrected: the patches do not overlap; S = HW / P^2
    Bound: none: patches are counted
    """
    # Count the rows of the embedding, and the pixels under each.
    patch, rows, columns = case
    height, width = rows * patch, columns * patch
    with torch.device("meta"):
        embedding = PatchEmbedding(patch, channels=2)
        x = embedding(torch.empty(1, 3, height, width))
    holds = x.shape == (1, height * width // patch**2, 2) and embedding.proj.stride == embedding.proj.kernel_size
    return Trial(holds, {"H": height, "W": width, "P": patch, "shape of X": tuple(x.shape[1:])})


@claim(st.tuples(st.integers(1, 12), st.integers(1, 12), st.integers(1, 5)))
def patches_cover_image(case: tuple[int, int, int], arithmetic: Arithmetic) -> Trial:
    """An image is split into patches of P x P only if P divides H and W; their number is then S = HW / P^2.

    Read as: the patches cover the image, whether it is square or not, and do not overlap; the package refuses to build
    a network for any other image.

    Place: Sec. 2.1, second paragraph
    Printed: Получим, что их общее количество равно S = HW / P^2.
    Bound: none: patches are counted
    """
    # Count the corners of patches that fit; they cover the image if they have as many pixels.
    height, width, patch = case
    corners = [(top, left) for top in range(0, height, patch) for left in range(0, width, patch)]
    fits = all(top + patch <= height and left + patch <= width for top, left in corners)
    printed = len(corners) if fits else None
    found = _patches_of(height, width, patch)
    holds = type(found) is type(printed) and found == printed
    return Trial(holds, {"H": height, "W": width, "P": patch, "patches": found, "that fit": printed})


def _patches_of(height: int, width: int, patch: int) -> int | None:
    """Return the package's S, None where it refuses the image."""
    try:
        return number_of_patches((height, width), patch)
    except BuildError:
        return None


@claim(projections(), proof=Proof("all numbers", Projection.sizes))
def patches_convolution(case: Projection, arithmetic: Arithmetic) -> Trial:
    """Projecting every patch with one matrix is a convolution with kernel P and stride P.

    Read as: each channel of the projection is its own sum over the patch's pixels, the same for all patches, plus a
    bias.

    Place: Sec. 2.1, second paragraph
    Printed: Все патчи линейно проецируются в вектор размерности C. Данную операцию можно сделать свёрткой с размером
        ядра P и шагом P.
    Bound: gamma_{P^2+1} times the sum of the magnitudes, for one image channel
    """
    # Hold the convolution against the sums over each patch.
    module = case.embedding(arithmetic)(arithmetic.tensor([[case.image]]))[0]
    return equal(module, case.project(arithmetic), image=case.image, weights=case.weights, bias=case.bias)
