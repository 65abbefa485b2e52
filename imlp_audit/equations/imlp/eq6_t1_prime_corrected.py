"""t'_1 is AGeLU' of the same t_0, each channel with coefficients of its own.

Place: Sec. 4.1, Eq. 6, third line
Corrected: t'_1 = AGeLU'(t_0) = (beta'_{c'} GeLU(alpha'_{c'} sum_{i=1}^{C} w^d_{ic'} x_i + gamma'_{c'}) + theta'_{c'})
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
    """Hold the module's output against the corrected elements."""
    s = case.symbols(arithmetic)
    return equal(case.t1_prime(arithmetic), [_element(s, c) for c in s.half], **case.shown())


def _element(s: Symbols, c: int) -> Rounded:
    primed = len(s.half) + c  # alpha'_{c'} is alpha_{C'/2 + c'}, and so on
    sums = total(s.wd[i][c] * s.x[i] for i in s.width)
    return s.beta[primed] * gelu(s.alpha[primed] * sums + s.gamma[primed]) + s.theta[primed]


CLAIM = Claim(amlps(), judge)
