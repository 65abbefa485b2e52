"""The MLP's matrix form is, for each output, a sum over hidden units of phi of a scale times x_c plus a bias.

Place: Sec. 3, Eq. 2, last equality
Printed: phi(x W^a) W^b = (sum_{j=1}^{C'} w^b_{jc} phi(m_{cj} x_c + n_{cj}))_{c=1}^{C}, m_{cj} = w^a_{cj},
    n_{cj} = sum_{i=1, i != c}^{C} w^a_{ij} x_i
Bound: gamma_{C+1} times the magnitudes under phi, times its largest slope, then gamma_{C'+1} times those of the sum
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.imlp._mlp import Mlp, mlps
from imlp_audit.equations.rounded import Rounded, total


def judge(case: Mlp, arithmetic: Arithmetic) -> Trial:
    """Hold the matrix form against the printed sum."""
    x, wa, wb = arithmetic.vector(case.x), arithmetic.matrix(case.wa), arithmetic.matrix(case.wb)

    def m(c: int, j: int) -> Rounded:
        return wa[c][j]

    def n(c: int, j: int) -> Rounded:
        return total([arithmetic.number(0), *(wa[i][j] * x[i] for i in range(len(x)) if i != c)])

    printed = [total(wb[j][c] * gelu(m(c, j) * x[c] + n(c, j)) for j in range(len(wb))) for c in range(len(x))]
    return equal(case.matrix_form(arithmetic), printed, **case.shown())


CLAIM = Claim(mlps(), judge)
