"""The IMLP does N C' (C/2 - n^2) multiply-accumulates less than the MLP: fewer exactly where C > 2 n^2.

For every number N of tokens, width C, even C' and odd n: half of the first FC layer is saved, and the depthwise
convolution does n^2 for each of C' channels at each token.

Place: Sec. 4.1, the sentence after Eq. 5, and Sec. 4.3
Corrected: (multiply-accumulates of the MLP) - (of the IMLP) = N C C'/2 - N C' n^2
Bound: none: multiply-accumulates are counted
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._blocks import KERNELS, Size, imlp, mlp, multiply_accumulates, sizes


def judge(case: tuple[int, Size], _: Arithmetic) -> Trial:
    """Hold what the ledgers of both modules tell against the formula."""
    n, (tokens, c, hidden) = case[0], (case[1].tokens, case[1].width, case[1].hidden)
    ours = multiply_accumulates(imlp(c, hidden, n, grid=(1, tokens)), 1, tokens, c)
    theirs = multiply_accumulates(mlp(c, hidden), 1, tokens, c)
    shown = {**case[1].shown(), "n": n, "IMLP": ours, "MLP": theirs}
    return Trial(2 * (theirs - ours) == tokens * hidden * (c - 2 * n * n), shown)


CLAIM = Claim(st.tuples(KERNELS, sizes()), judge)
