"""In the GeLU row of Table 4, the 4 C functions that are added up are different functions.

Read as: at an input that is not zero, they do not all give the same value. GeLU has no parameters that could differ.

Place: Sec. 5.2 on Table 4, row GeLU
Printed: directly using 4C different nonlinear functions to replace the original MLP module [...] Here we use GeLU and
    AGeLU as the basic nonlinear functions
Nearest: sums_of_gelus
Bound: none: one function of equal inputs gives equal outputs
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._sums import gelus
from imlp_audit.equations.strategies import nonzero


def judge(case: tuple[int, float], arithmetic: Arithmetic) -> Trial:
    """Look for two functions that differ."""
    c, x = case
    values = [function(arithmetic.tensor(x)).item() for function in gelus(c)]
    return Trial(len(set(values)) > 1, {"C": c, "x": x, "GeLU_1(x), ..., GeLU_4C(x)": values})


CLAIM = Claim(st.tuples(st.integers(1, 4), nonzero()), judge)
