"""Each output of the AMLP is the sum of t_2's elements weighted by a column of W^e.

Place: Sec. 4.1, Eq. 6, fifth line
Corrected: y' = t_2 W^e = (sum_{j=1}^{C'} w^e_{jc} [beta_j GeLU(alpha_j sum_{i=1}^{C} w^d_{i,f(j)} x_i + gamma_j)
    + theta_j])_{c=1}^{C}
Bound: gamma_{C+1} times the magnitudes under GeLU, times its largest slope, then gamma_{C'+3} times those of the sum
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.imlp._amlp import Amlp, amlps
from imlp_audit.equations.imlp.eq6_t2_corrected import element
from imlp_audit.equations.rounded import total


def judge(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """Hold t_2 W^e against the corrected sums."""
    s = case.symbols(arithmetic)
    corrected = [total(s.we[j][c] * element(s, j) for j in s.hidden) for c in s.width]
    return equal(case.output(arithmetic), corrected, **case.shown())


CLAIM = Claim(amlps(), judge)
