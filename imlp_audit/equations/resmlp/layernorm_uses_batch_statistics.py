"""Layer Normalization depends on batch statistics: a sample's output changes where the rest of its batch does.
Read as: where the other samples are reflected about the sample, as BatchNorm's output does.

Place: Sec. 2, after Eq. 1
Printed: as opposed to BatchNorm and Layer Normalization, the Aff operator does not depend on batch statistics (what
    it says of Layer Normalization)
Nearest: layernorm_uses_batch_statistics_corrected
Bound: none: the output is the same to the bit or it is not
"""

from __future__ import annotations

from torch import nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.resmlp._statistics import Batch, batches


def judge(case: Batch, arithmetic: Arithmetic) -> Trial:
    """Hold the sample's outputs in both batches against each other."""
    norm = arithmetic.place(nn.LayerNorm(2))
    changes = case.of_own(norm, arithmetic) != case.reflected().of_own(norm, arithmetic)
    return Trial(changes, case.shown(norm, arithmetic))


CLAIM = Claim(batches(), judge)
