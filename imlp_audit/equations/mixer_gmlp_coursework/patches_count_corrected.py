"""An H x W image is split into S = HW / P^2 patches of P x P that do not overlap.

Read as: P divides H and W; S is the number of rows that the patch embedding gives.

Place: Sec. 2.1, second paragraph; Sec. 3 says that the patches do not overlap
Corrected: the patches do not overlap; S = HW / P^2
Bound: none: patches are counted
"""

from __future__ import annotations

import torch
from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.models.mixer import PatchEmbedding


def judge(case: tuple[int, int, int], arithmetic: Arithmetic) -> Trial:
    """Count the rows of the embedding, and the pixels under each."""
    patch, rows, columns = case
    height, width = rows * patch, columns * patch
    with torch.device("meta"):
        embedding = PatchEmbedding(patch, channels=2)
        x = embedding(torch.empty(1, 3, height, width))
    holds = x.shape == (1, height * width // patch**2, 2) and embedding.proj.stride == embedding.proj.kernel_size
    return Trial(holds, {"H": height, "W": width, "P": patch, "shape of X": tuple(x.shape[1:])})


CLAIM = Claim(st.tuples(st.integers(1, 16), st.integers(1, 16), st.integers(1, 16)), judge)
