"""The Aff after A can be absorbed in A exactly where all channels have the same alpha, or A is zero, and all
channels have the same beta: A acts on patches and is shared by the channels, alpha and beta belong to channels.

Place: Sec. 2, after Eq. 1, of Eq. 2's A and the Aff after it
Corrected: Aff((A X^T)^T)^T = A' X^T + a' for all X, if and only if (alpha_c - alpha_1) A = 0 and beta_c = beta_1
    for all c
Bound: none: sums of products of few small integers are exact
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.resmlp._absorbing import AcrossPatches, often_absorbed, same_in_all_channels


def judge(case: AcrossPatches, arithmetic: Arithmetic) -> Trial:
    """Hold whether Aff after A is one layer in all channels against the condition."""
    apart = case.aff.module(arithmetic)(case.linear(arithmetic)(case.probes(arithmetic)))
    (alpha, other_alpha), (beta, other_beta) = case.aff.alpha, case.aff.beta
    scales_agree = alpha == other_alpha or not any(any(row) for row in case.a)
    absorbed = same_in_all_channels(apart)
    return Trial(absorbed == (scales_agree and beta == other_beta), {**case.shown(), "absorbed": absorbed})


CLAIM = Claim(often_absorbed(), judge)
