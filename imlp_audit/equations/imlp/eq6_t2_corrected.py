"""t_2, the concatenation, has C' elements, the second half of which reads the columns of W^d again, by f.

Place: Sec. 4.1, Eq. 6, fourth line
Corrected: t_2 = concat(t_1, t'_1) = (beta_{c'} GeLU(alpha_{c'} sum_{i=1}^{C} w^d_{i,f(c')} x_i + gamma_{c'})
    + theta_{c'})_{c'=1}^{C'}, f(x) = x - C'/2 1_{x > C'/2}, and alpha_{C'/2+1}, ..., alpha_{C'} are
    alpha'_1, ..., alpha'_{C'/2}, as for beta, gamma and theta
Bound: gamma_{C+1} times the magnitudes under GeLU, times its largest slope, then gamma_2 times those of the result
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.imlp._amlp import Amlp, Symbols, amlps
from imlp_audit.equations.rounded import Rounded


def judge(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """Hold the concatenation against the corrected elements."""
    s = case.symbols(arithmetic)
    return equal(case.t2(arithmetic), [element(s, c) for c in s.hidden], **case.shown())


def element(s: Symbols, c: int) -> Rounded:
    """Return beta_{c'} GeLU(alpha_{c'} sum_{i=1}^{C} w^d_{i,f(c')} x_i + gamma_{c'}) + theta_{c'}."""
    return s.beta[c] * gelu(s.alpha[c] * s.inner(c) + s.gamma[c]) + s.theta[c]


CLAIM = Claim(amlps(), judge)
