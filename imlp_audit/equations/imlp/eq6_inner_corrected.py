"""What GeLU is applied to in the AMLP is a scale times x_c plus a bias, and alpha_j is a factor of both.

Place: Sec. 4.1, after Eq. 6
Corrected: alpha_j sum_{i=1}^{C} w^d_{i,f(j)} x_i + gamma_j = m'_{cj} x_c + n'_{cj}, m'_{cj} = alpha_j w^d_{c,f(j)},
    n'_{cj} = alpha_j sum_{i=1, i != c}^{C} w^d_{i,f(j)} x_i + gamma_j
Bound: gamma_{C+2} times the sum of the terms' magnitudes
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.imlp._amlp import Amlp, Symbols, amlps
from imlp_audit.equations.rounded import Rounded


def judge(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """Hold, for each input element x_c, what GeLU is applied to against the corrected scale and bias."""
    s = case.symbols(arithmetic)
    corrected = [[m(s, c, j) * s.x[c] + n(s, c, j) for j in s.hidden] for c in s.width]
    return equal(case.under_phi(arithmetic).expand(len(s.width), -1), corrected, **case.shown())


def m(s: Symbols, c: int, j: int) -> Rounded:
    """m'_{cj} corrected: alpha_j w^d_{c,f(j)}."""
    return s.alpha[j] * s.wd[c][s.f(j)]


def n(s: Symbols, c: int, j: int) -> Rounded:
    """n'_{cj} corrected: alpha_j sum_{i=1, i != c}^{C} w^d_{i,f(j)} x_i + gamma_j."""
    return s.alpha[j] * s.others(c, j) + s.gamma[j]


CLAIM = Claim(amlps(), judge)
