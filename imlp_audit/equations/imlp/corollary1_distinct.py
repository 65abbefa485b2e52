"""Distinct scales and biases are applied to different input elements.

Read as: m_{cj} != m_{c'j} and n_{cj} != n_{c'j} for c != c'. Tested where the weights of a hidden unit are
distinct and not zero, and so are the inputs.

Place: Sec. 3, Corollary 1 (2)
Printed: Distinct scales and biases are applied to different input elements x_c before passing through the nonlinear
    function phi
Nearest: corollary1_distinct_corrected
Bound: none: the numbers are exact
"""

from __future__ import annotations

from itertools import combinations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._biases import FirstLayer


def judge(case: FirstLayer, arithmetic: Arithmetic) -> Trial:
    """Look for two input elements of the same scale or the same bias."""
    for j in case.hidden:
        scales, biases = [case.m(c, j) for c in case.inputs], [case.n(c, j) for c in case.inputs]
        if any(one == other for numbers in (scales, biases) for one, other in combinations(numbers, 2)):
            return Trial(False, {**case.shown(), "j": j + 1, "m_{cj}, c = 1 to C": scales, "n_{cj}": biases})
    return Trial(True)


_TWO = st.permutations((1.0, 2.0))
_LAYERS = st.tuples(_TWO, _TWO).map(lambda both: FirstLayer(tuple(both[0]), tuple((weight,) for weight in both[1])))

CLAIM = Claim(_LAYERS, judge)
