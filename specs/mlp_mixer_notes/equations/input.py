"""The paragraph on the input: patches and their projection."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.patches import Projection, projections
from imlp_audit.models.mixer import PatchEmbedding


@dataclass(frozen=True)
class Grid:
    """An image of rows x columns patches of P x P, and the width C."""

    patch: int
    rows: int
    columns: int
    channels: int


_size = st.integers(1, 8)


@claim(st.builds(Grid, _size, _size, _size, _size))
def patch_count(case: Grid, arithmetic: Arithmetic) -> Trial:
    """An image of H x W has S = HW / P^2 non-overlapping patches of P x P.

    Read as: P divides H and W; S is the number of rows of the table X that the patch embedding gives, S x C.

    Place: paragraph on the input
    Printed: a sequence of S non-overlapping image patches, ... X in R^{S x C}; S = HW / P^2
    Bound: none: patches are counted
    """
    # Hold the shape of the embedding against the printed one.
    height, width = case.rows * case.patch, case.columns * case.patch
    with torch.device("meta"):
        embedding = PatchEmbedding(case.patch, case.channels)
        x = embedding(torch.empty(1, 3, height, width))
    printed = (height * width // case.patch**2, case.channels)
    holds = tuple(x.shape[1:]) == printed and embedding.proj.stride == (case.patch, case.patch)
    return Trial(holds, {"H": height, "W": width, "P": case.patch, "C": case.channels, "X": tuple(x.shape[1:])})


@claim(projections(), proof=Proof("all numbers", Projection.sizes))
def patch_projection(case: Projection, arithmetic: Arithmetic) -> Trial:
    """All patches are projected linearly with the same matrix.

    Read as: each of the C numbers of a patch is its own sum over the patch's pixels, with weights that are the same for
    all patches, plus a bias.

    Place: paragraph on the input
    Printed: All patches are linearly projected with the same projection matrix.
    Bound: gamma_{P^2+1} times the sum of the magnitudes, for one image channel
    """
    # Hold the patch embedding against the sums over each patch.
    module = case.embedding(arithmetic)(arithmetic.tensor([[case.image]]))[0]
    return equal(module, case.project(arithmetic), image=case.image, weights=case.weights, bias=case.bias)
