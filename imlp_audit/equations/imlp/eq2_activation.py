"""phi(x W^a) is phi of each of the sums that x W^a consists of.

Place: Sec. 3, Eq. 2, second equality
Printed: phi(x W^a) = (phi(sum_{i=1}^{C} w^a_{ic'} x_i))_{c'=1}^{C'}
Bound: gamma_C times the magnitudes under phi, times its largest slope
"""

from __future__ import annotations

import torch.nn.functional as F

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.imlp._mlp import Mlp, mlps
from imlp_audit.equations.rounded import total


def judge(case: Mlp, arithmetic: Arithmetic) -> Trial:
    """Hold the activation of the matrix product against the printed elements."""
    x, wa = arithmetic.vector(case.x), arithmetic.matrix(case.wa)
    printed = [gelu(total(wa[i][j] * x[i] for i in range(len(x)))) for j in range(len(wa[0]))]
    hidden = F.gelu(arithmetic.tensor(case.x) @ arithmetic.tensor(case.wa))
    return equal(hidden, printed, **{"x": case.x, "W^a": case.wa})


CLAIM = Claim(mlps(), judge)
