"""In the GeLU row of Table 4, the sum of the 4 C functions is 4 C GeLU(x): one function, scaled.

Place: Sec. 5.2 on Table 4, row GeLU
Corrected: y = GeLU_1(x) + ... + GeLU_{4C}(x) = 4 C GeLU(x)
Bound: gamma_{4C-1} times the sum of the magnitudes, and GeLU's own error for each term
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.imlp._sums import gelus, summed
from imlp_audit.equations.rounded import total
from imlp_audit.equations.strategies import numbers


def judge(case: tuple[int, float], arithmetic: Arithmetic) -> Trial:
    """Hold both the sum of the modules and 4 C GeLU(x) against the sum as it is printed."""
    c, x = case
    number = arithmetic.tensor(x)
    both = torch.stack((summed(gelus(c))(number), 4 * c * F.gelu(number)))
    printed = total(gelu(arithmetic.number(x)) for _ in range(4 * c))
    return equal(both, [printed, printed], C=c, x=x)


CLAIM = Claim(st.tuples(st.integers(1, 4), numbers()), judge)
