"""Padding a sequence with zeros and taking the submatrix of A for the longest of the batch adds to each token what the
first Aff makes of the zeros: its beta times the weights of A on the padding, scaled by the last Aff; nothing where
that beta is zero. The rest of A has no part in it.

Place: Sec. 2, Sequence-to-sequence ResMLP
Printed: simply padding with zeros and extracting the submatrix A corresponding to the longest sequence in a batch; in
    Eq. 2, Z_cn of the padded sequence = Z_cn of the sequence alone + alpha'_c beta_c sum_{m=L+1}^{longest} A_nm
Bound: gamma_{longest+5} times the magnitudes of all products: two Affs, a sum over tokens, and the skip
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.resmlp._sequences import Padded, padded_sequences
from imlp_audit.equations.rounded import Rounded, total


def judge(case: Padded, arithmetic: Arithmetic) -> Trial:
    """Hold the padded sequence's tokens against those of the sequence alone and what padding adds."""
    a, length = arithmetic.matrix(case.a), len(case.x[0])

    def added(c: int, n: int) -> Rounded:
        return case.after.alpha[c] * (case.before.beta[c] * total(a[n][length : case.longest]))

    alone = case.alone().printed(arithmetic)
    printed = [[z + added(c, n) for n, z in enumerate(channel)] for c, channel in enumerate(alone)]
    return case.holds_in_batch(printed, arithmetic, causal=False)


CLAIM = Claim(padded_sequences(), judge)
