"""Algorithm 1's layer has as many parameters as Eq. 2 and 3: A, B, C and four Affs.

Place: Appendix C, and Sec. 2, Eq. 2 and 3
Printed: In Algorithm 1 we provide the pseudo-pytorch-code associated with our model (for Eq. 2 and 3, that is
    N^4 + 8 d^2 weights and 4 x 2d of the Affs)
Nearest: algorithm1_has_the_parameters_of_eq2_eq3_corrected
Bound: none: counts are integers
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.resmlp._size import Size, sizes
from imlp_audit.models.resmlp import AlgorithmLayer


def judge(case: Size, _: Arithmetic) -> Trial:
    """Hold the count of Algorithm 1's layer against that of the equations."""
    d, patches = case.d, case.patches
    return case.counts(AlgorithmLayer(d, patches), patches**2 + 8 * d**2 + 8 * d)


CLAIM = Claim(sizes(), judge)
