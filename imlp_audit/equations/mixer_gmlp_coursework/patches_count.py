"""An H x W image is split into S = HW / P^2 overlapping patches of P x P.

Read as: the patches start every s pixels in both directions, s < P, and cover the image exactly.

Place: Sec. 2.1, second paragraph
Printed: Каждое, из которых разбивается на пересекающиеся патчи размера P x P. Получим, что их общее количество равно
    S = HW / P^2.
Nearest: patches_count_corrected
Bound: none: patches are counted
"""

from __future__ import annotations

from dataclasses import dataclass

import torch.nn.functional as F
from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial


@dataclass(frozen=True)
class Image:
    """An image of `rows` x `columns` times P pixels, and patches that start every `stride` pixels."""

    patch: int
    stride: int
    rows: int
    columns: int


def judge(case: Image, arithmetic: Arithmetic) -> Trial:
    """Count the patches."""
    height, width = case.rows * case.patch, case.columns * case.patch
    image = arithmetic.tensor([[[[0.0] * width] * height]])
    count = F.unfold(image, kernel_size=case.patch, stride=case.stride).shape[-1]
    printed = height * width // case.patch**2
    shown = {"H": height, "W": width, "P": case.patch, "patches start every": case.stride}
    return Trial(count == printed, {**shown, "patches": count, "HW / P^2": printed})


_patches = st.sampled_from([(2, 1), (3, 1), (4, 2), (4, 1)])  # s divides P, so that the patches cover the image
CLAIM = Claim(
    _patches.flatmap(lambda size: st.builds(Image, *map(st.just, size), st.integers(2, 4), st.integers(1, 4))), judge
)
