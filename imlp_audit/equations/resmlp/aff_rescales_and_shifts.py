"""Aff only rescales and shifts its input element by element: whatever the input is, an output's only derivative
is alpha, by the input element in its own place, and at zero the output is beta.

Place: Sec. 2, after Eq. 1
Printed: This operation only rescales and shifts the input element-wise
Bound: none: a derivative is one element of alpha or zero, and beta is added to zero
"""

from __future__ import annotations

import torch
from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.dependence import jacobian
from imlp_audit.equations.resmlp._layer import AffCase, affs, each_of
from imlp_audit.equations.strategies import Vector, vectors


def judge(case: tuple[AffCase, Vector], arithmetic: Arithmetic) -> Trial:
    """Hold derivatives and the value at zero against alpha and beta."""
    aff, values = case
    module, x = aff.module(arithmetic), arithmetic.tensor(values)
    slopes, shift = jacobian(module, x), module(torch.zeros_like(x))
    holds = torch.equal(slopes, torch.diag(module.alpha)) and torch.equal(shift, module.beta)
    shown = {"alpha": aff.alpha, "beta": aff.beta, "x": values}
    return Trial(holds, {**shown, "derivatives": slopes.tolist(), "at zero": shift.tolist()})


CLAIM = Claim(each_of(lambda d: st.tuples(affs(d), vectors(d)), (1, 2, 3)), judge)
