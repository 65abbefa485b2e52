"""A larger kernel costs more by C' weights and N C' multiply-accumulates for each of its n^2 entries.

Read as: the costs of an IMLP grow with n, by exactly this. From n to m, that is C' (m^2 - n^2) parameters and
N C' (m^2 - n^2) multiply-accumulates.

Place: Sec. 5.2, on Table 5
Printed: as the kernel size n increases, the classification performances are getting better and better with a little
    increased FLOPs and parameters
Bound: none: parameters and multiply-accumulates are counted
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._blocks import KERNELS, Size, imlp, multiply_accumulates, sizes
from imlp_audit.measure.parameters import count_parameters


def judge(case: tuple[int, int, Size], _: Arithmetic) -> Trial:
    """Hold how much two kernels differ in cost against the entries by which they differ."""
    (n, m), size = sorted(case[:2]), case[2]
    small, large = (imlp(size.width, size.hidden, kernel, grid=(1, size.tokens)) for kernel in (n, m))
    parameters = count_parameters(large) - count_parameters(small)
    shape = 1, size.tokens, size.width
    work = multiply_accumulates(large, *shape) - multiply_accumulates(small, *shape)
    entries = size.hidden * (m * m - n * n)
    shown = {**size.shown(), "n": n, "m": m, "parameters more": parameters, "multiply-accumulates more": work}
    return Trial((parameters, work) == (entries, size.tokens * entries), shown)


CLAIM = Claim(st.tuples(KERNELS, KERNELS, sizes()), judge)
