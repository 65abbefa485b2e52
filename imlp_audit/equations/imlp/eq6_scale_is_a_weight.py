"""The scale of x_c under GeLU in the AMLP is learnable, and depends on no input: it is alpha_j w^d_{c,f(j)}.

Place: Sec. 4.1, last sentence
Printed: Each scale is a learnable weight while each bias is dependent on other input elements
Bound: gamma_1 of the product
"""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.dependence import jacobian
from imlp_audit.equations.imlp._amlp import Amlp, amlps
from imlp_audit.equations.imlp.eq6_inner_corrected import m


def judge(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """Hold the derivative by each input element, at two inputs, against the product."""
    s = case.symbols(arithmetic)
    products = [[m(s, c, j) for c in s.width] for j in s.hidden]
    elsewhere = replace(case, x=tuple(number + 1 for number in case.x))
    here = equal(scales(case, arithmetic), products, **case.shown())
    return here if not here.holds else equal(scales(elsewhere, arithmetic), products, **elsewhere.shown())


def scales(case: Amlp, arithmetic: Arithmetic) -> Tensor:
    """Return, for each hidden unit j, the derivative by each x_c of what GeLU is applied to."""
    weights = arithmetic.tensor(case.wd)
    return jacobian(lambda x: case.under_phi_of(x @ weights, arithmetic), arithmetic.tensor(case.x))


CLAIM = Claim(amlps(), judge)
