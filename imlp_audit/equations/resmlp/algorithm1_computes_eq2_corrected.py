"""Algorithm 1's cross-patch sublayer with a bias b for every patch computes Eq. 2 where the Aff after A has
beta = b alpha: where b is zero, a LayerScale.

Place: Appendix C, and Sec. 2, Eq. 2
Corrected: X + Diag(alpha) (A Aff(X)^T + b)^T = X + Aff((A Aff(X)^T)^T), with beta = b alpha in the last Aff
Bound: gamma_{N^2+5} times the magnitudes of all products: two Affs, a sum of N^2, and the skip
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.resmlp._algorithm1 import cross_patch_of_algorithm1
from imlp_audit.equations.resmlp._layer import AffCase, CrossPatchCase, batch_of, cross_patches, matrix_of
from imlp_audit.equations.strategies import numbers


def judge(case: tuple[CrossPatchCase, float], arithmetic: Arithmetic) -> Trial:
    """Hold Algorithm 1's sublayer against Eq. 2."""
    sublayer, bias = case
    alpha = sublayer.after.alpha
    sublayer = replace(sublayer, after=AffCase(alpha, tuple(bias * scale for scale in alpha)))
    z = cross_patch_of_algorithm1(sublayer, bias, arithmetic).cross_patch(batch_of(sublayer.x, arithmetic))
    return equal(matrix_of(z), sublayer.printed(arithmetic), **sublayer.shown())


CLAIM = Claim(st.tuples(cross_patches(), numbers()), judge)
