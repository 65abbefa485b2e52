"""The patches interact via a linear layer that is shared across channels and applied to each of them independently:
every channel has the same weights between patches, and no channel has a derivative by another.

Place: Related work, Other architectures with similar components; Introduction
Printed: interaction between patches is obtained via a linear layer that is shared across channels; a cross-patch
    linear layer applied to all channels independently
Bound: none: a derivative is one weight or exactly zero
"""

from __future__ import annotations

import torch

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.resmlp._communication import Communication, communications


def judge(case: Communication, arithmetic: Arithmetic) -> Trial:
    """Hold the derivatives of all channels against A in its own channel and zero between two."""
    found = case.derivatives(arithmetic)
    channels = torch.eye(len(case.x), dtype=found.dtype, device=found.device)
    shared = torch.einsum("nm,cd->ncmd", arithmetic.tensor(case.a), channels)
    return Trial(torch.equal(found, shared), {**case.shown(), "derivatives": found.tolist()})


CLAIM = Claim(communications((2, 3)), judge)
