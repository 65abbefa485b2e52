"""The scale of x_c under GeLU in the AMLP is a learnable weight, the entry w^d_{c,f(j)} of W^d.

Read as: what GeLU is applied to changes with x_c at the rate m'_{cj} = w^d_{c,f(j)}.

Place: Sec. 4.1, last sentence
Printed: Each scale is a learnable weight
Nearest: eq6_scale_is_a_weight_corrected
Bound: gamma_1 of the product of the scale's factors
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.imlp._amlp import Amlp, smallest_amlps
from imlp_audit.equations.imlp.eq6_inner import m
from imlp_audit.equations.imlp.eq6_scale_is_a_weight_corrected import scales


def judge(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """Hold the derivative by each input element against the weight."""
    s = case.symbols(arithmetic)
    weights = [[m(s, c, j) for c in s.width] for j in s.hidden]
    return equal(scales(case, arithmetic), weights, **{"W^d": case.wd, "alpha": case.first.alpha})


CLAIM = Claim(smallest_amlps(), judge)
