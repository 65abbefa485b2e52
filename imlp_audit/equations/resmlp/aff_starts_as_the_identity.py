"""As a pre-normalization Aff starts as the identity.

Place: Sec. 2, after Eq. 1
Printed: Here, we initialize alpha = 1, and beta = 0
Bound: none: a product with 1 and a sum with 0 are exact
"""

from __future__ import annotations

import torch

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.resmlp._layer import batch_of, each_of
from imlp_audit.equations.strategies import Matrix, matrices
from imlp_audit.models.resmlp import EquationLayer


def judge(values: Matrix, arithmetic: Arithmetic) -> Trial:
    """Hold the output of a new layer's first Affs against their input."""
    layer, x = EquationLayer(len(values), len(values[0])), batch_of(values, arithmetic)
    arithmetic.place(layer)
    before_a, before_b = layer.pre1(x), layer.pre2(x)
    holds = torch.equal(before_a, x) and torch.equal(before_b, x)
    return Trial(holds, {"X": values, "before A": before_a[0].T.tolist(), "before B": before_b[0].T.tolist()})


CLAIM = Claim(each_of(lambda d: matrices(d, 1), (1, 2, 3)), judge)
