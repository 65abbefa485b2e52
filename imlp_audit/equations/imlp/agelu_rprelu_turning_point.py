"""RPReLU is PReLU moved: its turning point is at (gamma, zeta) instead of (0, 0), its slopes are PReLU's.

Place: Sec. 4.1, after Eq. 4
Printed: The latter [RPReLU] can only adjust the position of the turning point compared to PReLU
Bound: gamma_3 times the sum of the terms' magnitudes
"""

from __future__ import annotations

import torch.nn.functional as F
from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.imlp._rprelu import RPReLU, rprelus
from imlp_audit.equations.strategies import numbers


def judge(case: tuple[float, RPReLU], arithmetic: Arithmetic) -> Trial:
    """Hold PReLU of x - gamma, plus zeta, against ReActNet's formula."""
    x, rprelu = case
    moved = F.prelu(arithmetic.tensor([x - rprelu.gamma]), arithmetic.tensor([rprelu.beta])) + rprelu.zeta
    return equal(moved, [rprelu.at(x, arithmetic)], x=x, beta=rprelu.beta, gamma=rprelu.gamma, zeta=rprelu.zeta)


CLAIM = Claim(st.tuples(numbers(), rprelus()), judge)
