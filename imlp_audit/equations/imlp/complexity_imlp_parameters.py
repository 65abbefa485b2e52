"""The IMLP has C' (C - 2 n^2 - 11) / 2 parameters less than the MLP: fewer exactly where C > 2 n^2 + 11.

For every width C, even C' and odd n, with biases: to what the AMLP has, the DW block adds n^2 weights for each of C'
channels, and two numbers for each in the batch norm. A bias in the convolution would add one more.

Place: Sec. 4.1, the sentence after Eq. 5, and Sec. 4.3
Corrected: (parameters of the MLP) - (parameters of the IMLP) = C' (C - 7) / 2 - C' (n^2 + 2)
Bound: none: parameters are counted
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._blocks import KERNELS, Size, imlp, mlp, sizes
from imlp_audit.measure.parameters import count_parameters


def judge(case: tuple[int, Size], _: Arithmetic) -> Trial:
    """Hold the parameters of both modules against the formula."""
    n, c, hidden = case[0], case[1].width, case[1].hidden
    ours, theirs = count_parameters(imlp(c, hidden, n)), count_parameters(mlp(c, hidden))
    shown = {"C": c, "C'": hidden, "n": n, "IMLP": ours, "MLP": theirs}
    return Trial(2 * (theirs - ours) == hidden * (c - 2 * n * n - 11), shown)


CLAIM = Claim(st.tuples(KERNELS, sizes()), judge)
