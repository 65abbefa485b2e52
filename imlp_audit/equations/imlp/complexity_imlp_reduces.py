"""The IMLP has fewer parameters and multiply-accumulates than the MLP, at the widths and kernels of Table 1.

With biases but none in the depthwise convolution, and AGeLU coefficients for every channel, on a 7 x 7 grid; C' is
4 C, or 8 C as in a stage of LVT. At a width of 64 and n = 5, the first stages of LVT, parameters are just fewer.

Place: Sec. 4.1 and Sec. 6
Printed: With the above modification, we can use fewer hidden dimensions which reduces the FLOPs and parameters of the
    model
Bound: none: parameters and multiply-accumulates are counted
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._blocks import LAYERS_OF_TABLE_1, imlp, mlp, multiply_accumulates
from imlp_audit.measure.parameters import count_parameters


def judge(case: tuple[tuple[int, int], int], _: Arithmetic) -> Trial:
    """Hold what one module costs against what the other does."""
    (c, n), ratio = case
    ours, theirs = imlp(c, ratio * c, n), mlp(c, ratio * c)
    parameters = count_parameters(ours), count_parameters(theirs)
    work = multiply_accumulates(ours, 1, 49, c), multiply_accumulates(theirs, 1, 49, c)
    shown = {"C": c, "n": n, "C'": ratio * c, "parameters": parameters, "multiply-accumulates": work}
    return Trial(parameters[0] < parameters[1] and work[0] < work[1], shown)


CLAIM = Claim(st.tuples(st.sampled_from(LAYERS_OF_TABLE_1), st.sampled_from((4, 8))), judge)
