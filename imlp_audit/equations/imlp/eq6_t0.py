"""Each element of t_0 = x W^d is the sum of the inputs weighted by a column of W^d.

Place: Sec. 4.1, Eq. 6, first line
Printed: t_0 = x W^d = (sum_{i=1}^{C} w^d_{ic'} x_i)_{c'=1}^{C'/2}
Bound: gamma_C times the sum of the terms' magnitudes
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.imlp._amlp import Amlp, amlps
from imlp_audit.equations.rounded import total


def judge(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """Hold the matrix product against the printed sums."""
    s = case.symbols(arithmetic)
    printed = [total(s.wd[i][c] * s.x[i] for i in s.width) for c in s.half]
    return equal(case.t0(arithmetic), printed, **case.shown())


CLAIM = Claim(amlps(), judge)
