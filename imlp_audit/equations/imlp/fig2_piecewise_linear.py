"""With phi = ReLU each output of the MLP, against x_c, is a chain of lines with kinks at -n_{cj} / m_{cj} at most.

Place: Sec. 3, Fig. 2
Printed: We use phi = ReLU in this figure for simplicity
Bound: none: rational arithmetic
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._kinks import added, linear_between
from imlp_audit.equations.imlp._relu import ReluModule, relu_mlps


def judge(case: ReluModule, arithmetic: Arithmetic) -> Trial:
    """Look for an output that is no sum of the units' lines, or for a place between kinks that is off the line."""
    for c in case.outputs:
        units = case.units(c)
        if not case.is_the_sum(c, arithmetic) or not linear_between(added(units), [unit.place for unit in units]):
            return Trial(False, {"x": case.x, "W^a": case.first, "W^b": case.second, "c": c + 1})
    return Trial(True)


CLAIM = Claim(st.integers(1, 3).flatmap(relu_mlps), judge)
