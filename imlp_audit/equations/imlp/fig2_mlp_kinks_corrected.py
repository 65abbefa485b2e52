"""With phi = ReLU each output of the MLP, against x_c, has at most C' kinks: one wherever jumps do not cancel.

So it has C' kinks where the -n_{cj} / m_{cj} are different and no weight is zero.

Place: Sec. 3, after Corollary 1
Corrected: y_c has a kink at x_c = t if and only if sum_{j: -n_{cj} / m_{cj} = t} w^b_{jc} |m_{cj}| != 0; at most C'
Bound: none: rational arithmetic
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._kinks import uncancelled
from imlp_audit.equations.imlp._relu import ReluModule, relu_mlps


def judge(case: ReluModule, arithmetic: Arithmetic) -> Trial:
    """Hold where the slope changes against where jumps do not cancel."""
    for c in case.outputs:
        found = case.kinks(c)
        counted = found == uncancelled(case.units(c)) and len(found) <= case.hidden
        if not counted or not case.is_the_sum(c, arithmetic):
            shown = {"x": case.x, "first weights": case.first, **case.arelu.shown(), "second weights": case.second}
            return Trial(False, {**shown, "c": c + 1, "kinks at": list(map(str, found))})
    return Trial(True)


CLAIM = Claim(st.integers(1, 3).flatmap(relu_mlps), judge)
