"""t_2, the concatenation, has the elements c' = 1 to C'/2.

Place: Sec. 4.1, Eq. 6, fourth line
Printed: t_2 = concat(t_1, t'_1) = (beta_{c'} GeLU(alpha_{c'} sum_{i=1}^{C} w_{i,f(c')} x_i + gamma_{c'}) + theta_{c'})
    _{c'=1}^{C'/2}, w_{i,f(c')} read as w^d_{i,f(c')}
Nearest: eq6_t2_corrected
Bound: none: the numbers of elements are compared
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.imlp._amlp import Amlp, amlps
from imlp_audit.equations.imlp.eq6_t2_corrected import element


def judge(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """Hold the concatenation against the printed elements."""
    s = case.symbols(arithmetic)
    return equal(case.t2(arithmetic), [element(s, c) for c in s.half], **{"C": len(s.width), "C'": len(s.hidden)})


CLAIM = Claim(amlps(), judge)
