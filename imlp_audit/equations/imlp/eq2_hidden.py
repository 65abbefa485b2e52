"""Each element of x W^a is the sum of the inputs weighted by a column of W^a.

Place: Sec. 3, Eq. 2, first equality
Printed: x W^a = (sum_{i=1}^{C} w^a_{ic'} x_i)_{c'=1}^{C'}
Bound: gamma_C times the sum of the terms' magnitudes
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.imlp._mlp import Mlp, mlps
from imlp_audit.equations.rounded import total


def judge(case: Mlp, arithmetic: Arithmetic) -> Trial:
    """Hold the matrix product against the printed sums."""
    x, wa = arithmetic.vector(case.x), arithmetic.matrix(case.wa)
    printed = [total(wa[i][j] * x[i] for i in range(len(x))) for j in range(len(wa[0]))]
    return equal(arithmetic.tensor(case.x) @ arithmetic.tensor(case.wa), printed, **{"x": case.x, "W^a": case.wa})


CLAIM = Claim(mlps(), judge)
