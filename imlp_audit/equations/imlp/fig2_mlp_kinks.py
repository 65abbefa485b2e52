"""With phi = ReLU each output of the MLP, against x_c, has C' kinks: its nonlinear degree.

Tested where the hidden units' weights differ, and none is zero, nor is an input.

Place: Sec. 3, after Corollary 1
Printed: a non-linearity generator with a nonlinear degree of C', as intuitively shown in Fig. 2
Nearest: fig2_mlp_kinks_corrected
Bound: none: rational arithmetic
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._agelu import start
from imlp_audit.equations.imlp._relu import ReluModule


def judge(case: ReluModule, arithmetic: Arithmetic) -> Trial:
    """Count the places where the slope changes."""
    for c in case.outputs:
        found = case.kinks(c)
        if len(found) != case.hidden:
            shown = {"x": case.x, "W^a": case.first, "W^b": case.second, "c": c + 1, "C'": case.hidden}
            return Trial(False, {**shown, "kinks of y_c against x_c, at": list(map(str, found))})
    return Trial(True)


_ROW = st.permutations((1.0, 2.0)).map(tuple)
_ONES = ((1.0, 1.0), (1.0, 1.0))

CLAIM = Claim(st.tuples(_ROW, _ROW).map(lambda wa: ReluModule((1.0, 1.0), wa, start(2), _ONES)), judge)
