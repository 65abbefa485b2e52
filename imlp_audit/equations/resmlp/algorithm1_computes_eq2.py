"""Algorithm 1's cross-patch sublayer computes Eq. 2: with Eq. 2's A, first Aff and alpha after A, some bias of A
takes the place of beta after A. Channel 1 leaves one bias for it, beta_1 / alpha_1 for every patch.

Place: Appendix C, and Sec. 2, Eq. 2
Printed: In Algorithm 1 we provide the pseudo-pytorch-code associated with our model (of Eq. 2: Z = X +
    Aff((A Aff(X)^T)^T); Algorithm 1: Z = X + Diag(alpha) (A Aff(X)^T + a)^T)
Nearest: algorithm1_computes_eq2_corrected
Bound: gamma_{N^2+5} times the magnitudes of all products: two Affs, a sum of N^2, and the skip
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.resmlp._algorithm1 import cross_patch_of_algorithm1, cross_patches_without_first_shift
from imlp_audit.equations.resmlp._layer import CrossPatchCase, batch_of, matrix_of


def judge(case: CrossPatchCase, arithmetic: Arithmetic) -> Trial:
    """Hold Algorithm 1's sublayer, with the bias that channel 1 leaves, against Eq. 2."""
    layer = cross_patch_of_algorithm1(case, case.after.beta[0] / case.after.alpha[0], arithmetic)
    return equal(matrix_of(layer.cross_patch(batch_of(case.x, arithmetic))), case.printed(arithmetic), **case.shown())


CLAIM = Claim(cross_patches_without_first_shift(), judge)
