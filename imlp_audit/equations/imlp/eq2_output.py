"""Each output of the MLP is the sum of its hidden units weighted by a column of W^b.

Place: Sec. 3, Eq. 2, third equality
Printed: y = phi(x W^a) W^b = (sum_{j=1}^{C'} w^b_{jc} phi(sum_{i=1}^{C} w^a_{ij} x_i))_{c=1}^{C}
Bound: gamma_C times the magnitudes under phi, times its largest slope, then gamma_{C'+1} times those of the sum
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.imlp._mlp import Mlp, mlps
from imlp_audit.equations.rounded import total


def judge(case: Mlp, arithmetic: Arithmetic) -> Trial:
    """Hold the matrix form against the printed sums."""
    x, wa, wb = arithmetic.vector(case.x), arithmetic.matrix(case.wa), arithmetic.matrix(case.wb)
    hidden = [gelu(total(wa[i][j] * x[i] for i in range(len(x)))) for j in range(len(wb))]
    printed = [total(wb[j][c] * hidden[j] for j in range(len(wb))) for c in range(len(x))]
    return equal(case.matrix_form(arithmetic), printed, **case.shown())


CLAIM = Claim(mlps(), judge)
