"""Algorithm 1's layer has N^2 + 3d parameters more than Eq. 2 and 3: biases of A, B and C, less the biases of the
two Affs after the sublayers, which are LayerScales.

Place: Appendix C, and Sec. 2, Eq. 2 and 3
Corrected: N^4 + 8 d^2 + 8d parameters of Eq. 2 and 3; N^2 + 4d + d of biases and -2d of beta to Algorithm 1
Bound: none: counts are integers
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.resmlp._size import Size, sizes
from imlp_audit.models.resmlp import AlgorithmLayer, EquationLayer


def judge(case: Size, _: Arithmetic) -> Trial:
    """Hold the counts of both layers against the formulas."""
    d, patches = case.d, case.patches
    printed = patches**2 + 8 * d**2 + 8 * d
    equations = case.counts(EquationLayer(d, patches), printed)
    return case.counts(AlgorithmLayer(d, patches), printed + patches + 3 * d) if equations.holds else equations


CLAIM = Claim(sizes(), judge)
