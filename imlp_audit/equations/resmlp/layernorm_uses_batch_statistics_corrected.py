"""Layer Normalization depends on the statistics of one sample's channels, and on no other sample: a channel's output
changes where the sample's other channels are reflected about it, and stays where other samples are.

Place: Sec. 2, after Eq. 1
Corrected: as opposed to BatchNorm, which depends on batch statistics, and to Layer Normalization, which depends on
    channel statistics, the Aff operator depends on neither
Bound: none: the output is the same to the bit, or its sign flips
"""

from __future__ import annotations

from torch import Tensor, nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.resmlp._statistics import Batch, batches


def judge(case: Batch, arithmetic: Arithmetic) -> Trial:
    """Hold outputs in both batches against each other, with its rows as samples and then with its columns."""

    def over_columns(batch: Tensor) -> Tensor:
        normalised: Tensor = arithmetic.place(nn.LayerNorm(3))(batch.T)
        return normalised.T

    of_samples = arithmetic.place(nn.LayerNorm(2))
    stays = case.of_own(of_samples, arithmetic) == case.reflected().of_own(of_samples, arithmetic)
    changes = case.of_own(over_columns, arithmetic) != case.reflected().of_own(over_columns, arithmetic)
    return Trial(stays and changes, case.shown(over_columns, arithmetic))


CLAIM = Claim(batches(), judge)
