"""Each output of the AMLP is a sum of GeLUs weighted by w'_{jc} plus the theta_j, which no weight multiplies.

theta_j carries the index of the sum, so it stands inside it. All alpha_j are 1 here, so m' and n' are right as printed.

Place: Sec. 4.1, Eq. 6, last line
Printed: y' = (sum_{j=1}^{C'} w'_{jc} GeLU(m'_{cj} x_c + n'_{cj}) + theta_j)_{c=1}^{C}, w'_{jc} = w_{jc} beta_j,
    m'_{cj} = w^d_{c,f(j)}, n'_{cj} = sum_{i=1, i != c}^{C} w^d_{i,f(j)} x_i + gamma_j
Nearest: eq6_scale_and_bias_corrected
Bound: gamma_2 times the magnitudes under GeLU, times its largest slope, then gamma_5 times those of the sum
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.imlp._agelu import coefficients
from imlp_audit.equations.imlp._amlp import Amlp, Symbols, smallest_amlps
from imlp_audit.equations.imlp.eq6_inner import m, n
from imlp_audit.equations.rounded import Rounded, total


def judge(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """Hold t_2 W^e against the printed sums."""
    s = case.symbols(arithmetic)
    printed = [total(_term(s, c, j) for j in s.hidden) for c in s.width]
    return equal(case.output(arithmetic), printed, **case.shown())


def _term(s: Symbols, c: int, j: int) -> Rounded:
    return s.we[j][c] * s.beta[j] * gelu(m(s, c, j) * s.x[c] + n(s, c, j)) + s.theta[j]


CLAIM = Claim(smallest_amlps(coefficients(1, st.just(1.0))), judge)
