"""t_1 is AGeLU of t_0, each channel with coefficients of its own.

Place: Sec. 4.1, Eq. 6, second line
Printed: t_1 = AGeLU(t_0) = (beta_{c'} GeLU(alpha_{c'} sum_{i=1}^{C} w^d_{ic'} x_i + gamma_{c'}) + theta_{c'})
    _{c'=1}^{C'/2}
Bound: gamma_{C+1} times the magnitudes under GeLU, times its largest slope, then gamma_2 times those of the result
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.imlp._amlp import Amlp, Symbols, amlps
from imlp_audit.equations.rounded import Rounded, total


def judge(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """Hold the module's output against the printed elements."""
    s = case.symbols(arithmetic)
    return equal(case.t1(arithmetic), [_element(s, c) for c in s.half], **case.shown())


def _element(s: Symbols, c: int) -> Rounded:
    sums = total(s.wd[i][c] * s.x[i] for i in s.width)
    return s.beta[c] * gelu(s.alpha[c] * sums + s.gamma[c]) + s.theta[c]


CLAIM = Claim(amlps(), judge)
