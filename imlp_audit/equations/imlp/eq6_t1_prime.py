"""t'_1 is AGeLU' of t_0, where the stored text weights the inputs by w'_{ic'}, not by w^d_{ic'}.

Read as: w' is what is defined after the equation, w'_{jc} = w_{jc} beta_j with w = w^e. (The prime may be a
superscript d that the stored text lost; with w^d the line holds.) AGeLU and AGeLU' are GeLU here: nothing but the
weight matters.

Place: Sec. 4.1, Eq. 6, third line
Printed: t'_1 = AGeLU'(t_0) = (beta'_{c'} GeLU(alpha'_{c'} sum_{i=1}^{C} w'_{ic'} x_i + gamma'_{c'}) + theta'_{c'})
    _{c'=1}^{C'/2}
Nearest: eq6_t1_prime_corrected
Bound: gamma_3 times the magnitudes under GeLU, times its largest slope, then gamma_2 times those of the result
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.imlp._agelu import start
from imlp_audit.equations.imlp._amlp import Amlp, Symbols, smallest_amlps
from imlp_audit.equations.rounded import Rounded, total


def judge(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """Hold the module's output against the printed elements."""
    s = case.symbols(arithmetic)
    shown = {"x": case.x, "W^d": case.wd, "W^e": case.we}
    return equal(case.t1_prime(arithmetic), [_element(s, c) for c in s.half], **shown)


def _element(s: Symbols, c: int) -> Rounded:
    primed = len(s.half) + c  # alpha'_{c'} is alpha_{C'/2 + c'}, and so on
    sums = total(s.we[i][c] * s.beta[i] * s.x[i] for i in s.width)
    return s.beta[primed] * gelu(s.alpha[primed] * sums + s.gamma[primed]) + s.theta[primed]


CLAIM = Claim(smallest_amlps(st.just(start(1))), judge)
