"""The scale of x_c in the MLP is a learnable weight and does not depend on x_c, nor on any input.

Read as: what phi is applied to changes with x_c at the same rate, the weight w^a_{cj}, wherever x_c is.

Place: Sec. 3, Corollary 1 (3)
Printed: The scale is a learnable weight independent to the input element x_c
Bound: none: the derivative of a linear function is the weight itself
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.dependence import jacobian
from imlp_audit.equations.imlp._mlp import Mlp, mlps


def judge(case: Mlp, arithmetic: Arithmetic) -> Trial:
    """Hold the derivatives at two inputs against the weights."""
    wa, x = arithmetic.tensor(case.wa), arithmetic.tensor(case.x)
    scales = [jacobian(lambda x: x @ wa, at).T.tolist() for at in (x, x + 1)]
    return equal(scales, [arithmetic.matrix(case.wa)] * 2, x=case.x, **{"W^a": case.wa})


CLAIM = Claim(mlps(), judge)
