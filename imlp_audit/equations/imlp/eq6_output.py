"""Each output of the AMLP is the sum of t_2's elements weighted by w'_{jc}, which has beta_j in it already.

Read as: w'_{jc} = w_{jc} beta_j, as defined after the equation, with w = w^e. (The prime may be a superscript e that
the stored text lost; with w^e the line holds.)

Place: Sec. 4.1, Eq. 6, fifth line
Printed: y' = t_2 W^e = (sum_{j=1}^{C'} w'_{jc} [beta_j GeLU(alpha_j sum_{i=1}^{C} w_{i,f(j)} x_i + gamma_j) + theta_j])
    _{c=1}^{C}, w'_{jc} = w_{jc} beta_j
Nearest: eq6_output_corrected
Bound: gamma_2 times the magnitudes under GeLU, times its largest slope, then gamma_6 times those of the sum
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.imlp._amlp import Amlp, smallest_amlps
from imlp_audit.equations.imlp.eq6_t2_corrected import element
from imlp_audit.equations.rounded import total


def judge(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """Hold t_2 W^e against the printed sums."""
    s = case.symbols(arithmetic)
    printed = [total(s.we[j][c] * s.beta[j] * element(s, j) for j in s.hidden) for c in s.width]
    return equal(case.output(arithmetic), printed, **case.shown())


CLAIM = Claim(smallest_amlps(), judge)
