"""The MLP's nonlinear degree is C': no hidden unit, as a function of x_c, is a combination of the others.

Read as: the C' functions are linearly independent. Tested where they are different, nonlinear functions, as
Corollary 1 has them, of C = 1 input.

Place: Sec. 3, after Corollary 1
Printed: the MLP module in the vision transformer is no more than a non-linearity generator with a nonlinear
    degree of C'
Nearest: corollary1_degree_corrected
Bound: a minor of the functions' values that is larger than its own bound proves independence; GeLU(u) - GeLU(-u) = u
    proves dependence
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._biases import FirstLayer
from imlp_audit.equations.imlp._units import independent


def judge(case: FirstLayer, arithmetic: Arithmetic) -> Trial:
    """Look for an input element as functions of which the hidden units are dependent."""
    for c in case.inputs:
        if not independent(case.units(c)):
            shown = {"functions": [str(unit) for unit in case.units(c)], "linearly independent": False}
            return Trial(False, {**case.shown(), "c": c + 1, **shown})
    return Trial(True)


_WEIGHTS = st.tuples(st.permutations((1.0, -1.0, 2.0, -2.0)), st.integers(3, 4))

CLAIM = Claim(_WEIGHTS.map(lambda drawn: FirstLayer((1.0,), (tuple(drawn[0][: drawn[1]]),))), judge)
