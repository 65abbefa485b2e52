"""What GeLU is applied to in the AMLP is m'_{cj} x_c + n'_{cj}, with m' and n' as defined: without alpha_j.

Place: Sec. 4.1, after Eq. 6
Printed: alpha_j sum_{i=1}^{C} w_{i,f(j)} x_i + gamma_j = m'_{cj} x_c + n'_{cj}, m'_{cj} = w^d_{c,f(j)},
    n'_{cj} = sum_{i=1, i != c}^{C} w^d_{i,f(j)} x_i + gamma_j
Nearest: eq6_inner_corrected
Bound: gamma_3 times the sum of the terms' magnitudes
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.imlp._amlp import Amlp, Symbols, smallest_amlps
from imlp_audit.equations.rounded import Rounded


def judge(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """Hold, for each input element x_c, what GeLU is applied to against the printed scale and bias."""
    s = case.symbols(arithmetic)
    printed = [[m(s, c, j) * s.x[c] + n(s, c, j) for j in s.hidden] for c in s.width]
    shown = {"x": case.x, "W^d": case.wd, "alpha": case.first.alpha, "gamma": case.first.gamma}
    return equal(case.under_phi(arithmetic).expand(len(s.width), -1), printed, **shown)


def m(s: Symbols, c: int, j: int) -> Rounded:
    """m'_{cj} as printed: w^d_{c,f(j)}."""
    return s.wd[c][s.f(j)]


def n(s: Symbols, c: int, j: int) -> Rounded:
    """n'_{cj} as printed: sum_{i=1, i != c}^{C} w^d_{i,f(j)} x_i + gamma_j."""
    return s.others(c, j) + s.gamma[j]


CLAIM = Claim(smallest_amlps(), judge)
