"""BatchNorm depends on batch statistics: in training, a sample's output changes where the rest of its batch does.
Read as: where the other samples are reflected about the sample, which moves the mean but not the variance.

Place: Sec. 2, after Eq. 1
Printed: as opposed to BatchNorm, the Aff operator does not depend on batch statistics (what it says of BatchNorm)
Bound: none: the output's sign flips
"""

from __future__ import annotations

from torch import nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.resmlp._statistics import Batch, batches


def judge(case: Batch, arithmetic: Arithmetic) -> Trial:
    """Hold the sample's outputs in both batches against each other."""
    norm = arithmetic.place(nn.BatchNorm1d(2)).train()
    changes = case.of_own(norm, arithmetic) != case.reflected().of_own(norm, arithmetic)
    return Trial(changes, case.shown(norm, arithmetic))


CLAIM = Claim(batches(), judge)
