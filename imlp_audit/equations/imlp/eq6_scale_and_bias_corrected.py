"""Each output of the AMLP is a sum of GeLUs, each of a scale times x_c plus a bias, and of the weighted theta_j.

Place: Sec. 4.1, Eq. 6, last line
Corrected: y' = (sum_{j=1}^{C'} (w'_{jc} GeLU(m'_{cj} x_c + n'_{cj}) + w^e_{jc} theta_j))_{c=1}^{C},
    w'_{jc} = w^e_{jc} beta_j, m'_{cj} = alpha_j w^d_{c,f(j)},
    n'_{cj} = alpha_j sum_{i=1, i != c}^{C} w^d_{i,f(j)} x_i + gamma_j
Bound: gamma_{C+2} times the magnitudes under GeLU, times its largest slope, then gamma_{C'+4} times those of the sum
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.imlp._amlp import Amlp, Symbols, amlps
from imlp_audit.equations.imlp.eq6_inner_corrected import m, n
from imlp_audit.equations.rounded import Rounded, total


def judge(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """Hold t_2 W^e against the corrected sums."""
    s = case.symbols(arithmetic)
    corrected = [total(_term(s, c, j) for j in s.hidden) for c in s.width]
    return equal(case.output(arithmetic), corrected, **case.shown())


def _term(s: Symbols, c: int, j: int) -> Rounded:
    return s.we[j][c] * s.beta[j] * gelu(m(s, c, j) * s.x[c] + n(s, c, j)) + s.we[j][c] * s.theta[j]


CLAIM = Claim(amlps(), judge)
