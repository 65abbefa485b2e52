"""Each output of the MLP is the linear combination of C' different nonlinear functions of x_c, whatever the weights.

Tested where a wrong answer is no fault of the weights: the units' weights differ, none is zero, nor is an input.

Place: Sec. 3, Corollary 1 (1)
Printed: Each element y_c in y is the linear combination of C' different nonlinear functions to the input element x_c
Nearest: corollary1_different_functions_corrected
Bound: two functions are different where their values differ by more than the bounds of both; those of GeLU and of its
    argument, exact here
"""

from __future__ import annotations

from itertools import combinations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._biases import FirstLayer
from imlp_audit.equations.imlp._units import different, nonlinear


def judge(case: FirstLayer, arithmetic: Arithmetic) -> Trial:
    """Look for an input element of which two hidden units are the same function, or one is linear."""
    for c in case.inputs:
        units = case.units(c)
        if not all(map(nonlinear, units)) or not all(different(*pair) for pair in combinations(units, 2)):
            return Trial(False, {**case.shown(), "c": c + 1, "functions": [str(unit) for unit in units]})
    return Trial(True)


def _layers() -> st.SearchStrategy[FirstLayer]:
    """Two hidden units of the same weights in different orders."""
    column = st.permutations((1.0, 2.0, 3.0))
    columns = st.tuples(column, column).filter(lambda pair: pair[0] != pair[1])
    return columns.map(lambda pair: FirstLayer((1.0, 1.0, 1.0), tuple(zip(*pair, strict=True))))


CLAIM = Claim(_layers(), judge)
