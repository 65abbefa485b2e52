"""The parameters of a layer are the four matrices, the biases of four projections, and two LayerNorms.

Place: Sec. 2.1, paragraph on the parameters
Corrected: four matrices, 2 D_S S + 2 D_C C numbers; their biases, D_S + S + D_C + C; a scale and a shift per channel in
    each of two LayerNorms, 4 C
Bound: none: parameters are counted
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._counts import parameters
from imlp_audit.equations.mixer_gmlp_coursework._layers import Sizes, sizes


def judge(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """Hold the number of parameters against the sum of the three kinds."""
    matrices = 2 * case.d_s * case.s + 2 * case.d_c * case.c
    biases, norms = case.d_s + case.s + case.d_c + case.c, 4 * case.c
    ours, ours_by_kind = parameters(case.layer), matrices + biases + norms
    return Trial(ours == ours_by_kind, {**case.shown(), "parameters": ours, "of the three kinds": ours_by_kind})


CLAIM = Claim(sizes(), judge)
