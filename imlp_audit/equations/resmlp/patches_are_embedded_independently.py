"""The image's N x N patches do not overlap and each is passed through the linear layer independently: an embedding
depends on the pixels of its own patch and on no other.

Place: Sec. 2, The overall ResMLP architecture
Printed: a grid of N x N non-overlapping patches; The patches are then independently passed through a linear layer to
    form a set of N^2 d-dimensional embeddings
Bound: none: a derivative is exactly zero or it is not
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from hypothesis import strategies as st
from torch import nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.dependence import depends
from imlp_audit.models.mixer import PatchEmbedding


@dataclass(frozen=True)
class Grid:
    """N patches a side, of so many pixels a side, and the width d."""

    side: int
    patch: int
    d: int


def judge(case: Grid, arithmetic: Arithmetic) -> Trial:
    """Hold which embedding depends on which pixel, with weights of 1, against whose patch the pixel is in."""
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


CLAIM = Claim(st.builds(Grid, st.integers(1, 3), st.integers(1, 2), st.integers(1, 2)), judge)
