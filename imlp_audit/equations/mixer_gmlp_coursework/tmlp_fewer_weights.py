"""A Toeplitz W takes far fewer trained weights than a full one.

Read as: 2S - 1 instead of S^2, fewer than 2/S of them, for every S of two tokens or more; those of W alone.

Place: Sec. 3.3, paragraph that introduces tMLP
Printed: ограничение на тёплицевость позволяет существенно сократить количество обучаемых параметров
Bound: none: numbers of parameters
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.models.gmlp import ToeplitzProjection, TokenProjection


def judge(tokens: int, arithmetic: Arithmetic) -> Trial:
    """Count the weights of the package's projections."""
    full, toeplitz = TokenProjection(tokens).weight.numel(), ToeplitzProjection(tokens).weight.numel()
    counts = full == tokens**2 and toeplitz == 2 * tokens - 1
    shown = {"S": tokens, "weights of a full W": full, "of a Toeplitz W": toeplitz}
    return Trial(counts and toeplitz < full and toeplitz * tokens < 2 * full, shown)


CLAIM = Claim(st.integers(2, 128), judge)
