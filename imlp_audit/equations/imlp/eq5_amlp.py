"""The package's IMLP block, with its channel part alone, is Eq. 5: two AGeLUs of X W^d, concatenated, times W^e.

Place: Sec. 4.1, Eq. 5
Printed: Y' = AMLP(X) = concat(AGeLU(X W^d), AGeLU'(X W^d)) W^e
Bound: gamma_{C+1} times the magnitudes under GeLU, times its largest slope, then gamma_{C'+3} times those of the sum
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.imlp._amlp import Amlp, amlps
from imlp_audit.equations.imlp._imlp import block
from imlp_audit.equations.rounded import total


def judge(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """Hold the block, on one patch, against the printed matrix form."""
    x, wd, we = arithmetic.vector(case.x), arithmetic.matrix(case.wd), arithmetic.matrix(case.we)
    t0 = [total(wd[i][j] * x[i] for i in range(len(x))) for j in range(len(wd[0]))]
    t2 = case.first.written(t0, gelu) + case.second.written(t0, gelu)
    printed = [total(we[j][c] * t2[j] for j in range(len(we))) for c in range(len(x))]
    return equal(block(case, arithmetic)(arithmetic.tensor([[case.x]])), [[printed]], **case.shown())


CLAIM = Claim(amlps(), judge)
