"""The cross-patch sublayer adds to X an Aff of A times the transpose of another Aff of X, transposed back.

Place: Sec. 2, Eq. 2
Printed: Z = X + Aff((A Aff(X)^T)^T)
Bound: gamma_{N^2+5} times the magnitudes of all products: two Affs, a sum of N^2, and the skip
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.resmlp._layer import CrossPatchCase, batch_of, cross_patches, matrix_of


def judge(case: CrossPatchCase, arithmetic: Arithmetic) -> Trial:
    """Hold the layer's sublayer against Eq. 2."""
    z = matrix_of(case.module(arithmetic).cross_patch(batch_of(case.x, arithmetic)))
    return equal(z, case.printed(arithmetic), **case.shown())


CLAIM = Claim(cross_patches(), judge)
