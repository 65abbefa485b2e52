"""What can be saved of the two Affs around A at inference is one: together they scale each channel of (A X^T)^T
once and add a d x N^2 bias.

Place: Sec. 2, after Eq. 1, of Eq. 2's A
Corrected: Aff((A Aff(X)^T)^T)_cn = alpha'_c alpha_c sum_m A_nm X_cm + alpha'_c beta_c sum_m A_nm + beta'_c, with
    alpha, beta of the Aff before A and alpha', beta' of the one after it
Bound: gamma_{N^2+5} times the magnitudes of all products: two Affs, a sum of N^2, and the skip
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.resmlp._layer import CrossPatchCase, batch_of, cross_patches, matrix_of
from imlp_audit.equations.rounded import Rounded, total


def judge(case: CrossPatchCase, arithmetic: Arithmetic) -> Trial:
    """Hold the sublayer against Eq. 2, and that against a skip, one scale and one bias."""
    x, a = arithmetic.matrix(case.x), arithmetic.matrix(case.a)
    patches = range(len(a))

    def merged(c: int, n: int) -> Rounded:
        scale = case.after.alpha[c] * arithmetic.number(case.before.alpha[c])
        bias = case.after.alpha[c] * (case.before.beta[c] * total(a[n])) + case.after.beta[c]
        return scale * total(a[n][m] * x[c][m] for m in patches) + bias

    z, printed = matrix_of(case.module(arithmetic).cross_patch(batch_of(case.x, arithmetic))), case.printed(arithmetic)
    sublayer = equal(z, printed, **case.shown())
    saving = [[x[c][n] + merged(c, n) for n in patches] for c in range(len(x))]
    return equal(printed, saving, **case.shown()) if sublayer.holds else sublayer


CLAIM = Claim(cross_patches(), judge)
