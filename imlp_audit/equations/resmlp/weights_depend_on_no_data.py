"""The weights of the linear patch interaction layer do not depend on the data: whatever X is, patch n takes patch m
with the weight A_nm.

Place: Related work, Other architectures with similar components
Printed: in ResMLP the weights are not data dependent and only based on absolute positions of patches
Bound: none: a derivative is one weight
"""

from __future__ import annotations

import torch

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.resmlp._communication import Communication, communications


def judge(case: Communication, arithmetic: Arithmetic) -> Trial:
    """Hold the derivatives between patches, in the first channel, against A."""
    weights = case.derivatives(arithmetic)[:, 0, :, 0]
    return Trial(torch.equal(weights, arithmetic.tensor(case.a)), {**case.shown(), "weights": weights.tolist()})


CLAIM = Claim(communications(), judge)
