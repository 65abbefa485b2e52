"""With concat(ReLU, ReLU) and C'/2 columns in the first layer, each output against x_c has at most C'/2 kinks.

Place: Sec. 5.2 on Table 3, for Fig. 2's phi = ReLU
Printed: the two GeLU functions with the same scale and bias cause a simple replication along the channel dimension
Bound: none: rational arithmetic
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._relu import ReluModule, relu_concats


def judge(case: ReluModule, arithmetic: Arithmetic) -> Trial:
    """Count the places where the slope changes."""
    for c in case.outputs:
        found = case.kinks(c)
        if not case.is_the_sum(c, arithmetic) or len(found) > case.hidden // 2:
            shown = {"x": case.x, "first weights": case.first, "second weights": case.second, "c": c + 1}
            return Trial(False, {**shown, "kinks at": list(map(str, found))})
    return Trial(True)


CLAIM = Claim(st.integers(1, 2).flatmap(relu_concats), judge)
