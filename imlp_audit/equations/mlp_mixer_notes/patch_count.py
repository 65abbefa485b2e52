"""An image of H x W has S = HW / P^2 non-overlapping patches of P x P.

Read as: P divides H and W; S is the number of rows of the table X that the patch embedding gives, S x C.

Place: paragraph on the input
Printed: a sequence of S non-overlapping image patches, ... X in R^{S x C}; S = HW / P^2
Bound: none: patches are counted
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.models.mixer import PatchEmbedding


@dataclass(frozen=True)
class Grid:
    """An image of rows x columns patches of P x P, and the width C."""

    patch: int
    rows: int
    columns: int
    channels: int


def judge(case: Grid, arithmetic: Arithmetic) -> Trial:
    """Hold the shape of the embedding against the printed one."""
    height, width = case.rows * case.patch, case.columns * case.patch
    with torch.device("meta"):
        embedding = PatchEmbedding(case.patch, case.channels)
        x = embedding(torch.empty(1, 3, height, width))
    printed = (height * width // case.patch**2, case.channels)
    holds = tuple(x.shape[1:]) == printed and embedding.proj.stride == (case.patch, case.patch)
    return Trial(holds, {"H": height, "W": width, "P": case.patch, "C": case.channels, "X": tuple(x.shape[1:])})


_size = st.integers(1, 8)
CLAIM = Claim(st.builds(Grid, _size, _size, _size, _size), judge)
