"""The Aff before A can be absorbed in A exactly where all channels have the same alpha, or A is zero, and all
channels have the same beta, or every row of A sums to zero: A acts on patches and is shared by the channels,
alpha and beta belong to channels.

Place: Sec. 2, after Eq. 1, of Eq. 2's A and the Aff before it
Corrected: A Aff(X)^T = A' X^T + a' for all X, if and only if (alpha_c - alpha_1) A = 0 and
    (beta_c - beta_1) sum_m A_nm = 0 for all c and n
Bound: none: sums of products of few small integers are exact
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.resmlp._absorbing import AcrossPatches, often_absorbed, same_in_all_channels


def judge(case: AcrossPatches, arithmetic: Arithmetic) -> Trial:
    """Hold whether A after Aff is one layer in all channels against the condition."""
    apart = case.linear(arithmetic)(case.aff.module(arithmetic)(case.probes(arithmetic)))
    (alpha, other_alpha), (beta, other_beta) = case.aff.alpha, case.aff.beta
    scales_agree = alpha == other_alpha or not any(any(row) for row in case.a)
    shifts_agree = beta == other_beta or not any(sum(row) for row in case.a)
    absorbed = same_in_all_channels(apart)
    return Trial(absorbed == (scales_agree and shifts_agree), {**case.shown(), "absorbed": absorbed})


CLAIM = Claim(often_absorbed(), judge)
