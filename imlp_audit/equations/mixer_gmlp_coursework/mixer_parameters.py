"""The parameters of a layer are the four matrices.

Read as: W_1, W_2, W_3 and W_4 are all that a layer learns. The sentence before has a bias in each projection and
LayerNorm before each MLP.

Place: Sec. 2.1, paragraph on the parameters
Printed: Параметрами каждого слоя являются четыре матрицы: W_1, W_2, W_3, W_4
Nearest: mixer_parameters_corrected
Bound: none: parameters are counted
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._counts import parameters
from imlp_audit.equations.mixer_gmlp_coursework._layers import Sizes, sizes


def judge(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """Hold the number of parameters against that of the matrices' entries."""
    ours, printed = parameters(case.layer), 2 * case.d_s * case.s + 2 * case.d_c * case.c
    return Trial(ours == printed, {**case.shown(), "parameters": ours, "entries of the four matrices": printed})


CLAIM = Claim(sizes(), judge)
