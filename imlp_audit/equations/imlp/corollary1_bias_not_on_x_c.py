"""The bias of x_c in the MLP does not depend on x_c: neither a change of x_c nor a derivative by it shows in it.

Read as: the bias is what phi is applied to, less m_{cj} x_c.

Place: Sec. 3, Eq. 2, n_{cj} as a function of the other input elements
Printed: n_{cj} = f(x_1, ..., x_{c-1}, x_{c+1}, ..., x_C)
Bound: none: the numbers are exact, and a derivative that is exactly zero is told from one that is not
"""

from __future__ import annotations

import torch
from torch import Tensor

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.dependence import depends
from imlp_audit.equations.imlp._mlp import Mlp, mlps


def judge(case: Mlp, arithmetic: Arithmetic) -> Trial:
    """Change each x_c, and differentiate by it."""
    wa, x = arithmetic.tensor(case.wa), arithmetic.tensor(case.x)
    for c in range(len(case.x)):
        changed = torch.cat((x[:c], x[c : c + 1] + 1, x[c + 1 :]))

        def bias(x: Tensor, c: int = c) -> Tensor:
            return x @ wa - x[c] * wa[c]

        if not torch.equal(bias(changed), bias(x)) or depends(bias, x)[:, c].any():
            return Trial(False, {"x": case.x, "W^a": case.wa, "c": c + 1})
    return Trial(True)


CLAIM = Claim(mlps(), judge)
