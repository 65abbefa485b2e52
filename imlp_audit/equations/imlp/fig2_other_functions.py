"""The MLP is a sum of phi of a scale times x_c plus a bias for other functions phi too: ReLU, SoftPlus, PReLU.

Place: Sec. 3, caption of Fig. 2
Printed: Other formats of nonlinear function can also be used here to derive the same conclusion
Bound: gamma_{C+1} times the magnitudes under phi, times its largest slope, then gamma_{C'+1} times those of the sum
"""

from __future__ import annotations

import torch.nn.functional as F
from hypothesis import strategies as st
from torch import Tensor

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions import prelu, relu, softplus
from imlp_audit.equations.imlp._mlp import Mlp, mlps
from imlp_audit.equations.rounded import Rounded, total

_SLOPE = 0.25  # PReLU's where training starts


def judge(case: tuple[str, Mlp], arithmetic: Arithmetic) -> Trial:
    """Hold the matrix form against the sum of Eq. 2."""
    phi, mlp = case
    x, wa, wb = arithmetic.vector(mlp.x), arithmetic.matrix(mlp.wa), arithmetic.matrix(mlp.wb)

    def n(c: int, j: int) -> Rounded:
        return total([arithmetic.number(0), *(wa[i][j] * x[i] for i in range(len(x)) if i != c)])

    units = [[_written(phi, wa[c][j] * x[c] + n(c, j)) for j in range(len(wb))] for c in range(len(x))]
    printed = [total(wb[j][c] * unit for j, unit in enumerate(row)) for c, row in enumerate(units)]
    hidden = _module(phi, arithmetic.tensor(mlp.x) @ arithmetic.tensor(mlp.wa), arithmetic)
    return equal(hidden @ arithmetic.tensor(mlp.wb), printed, phi=phi, **mlp.shown())


def _written(phi: str, x: Rounded) -> Rounded:
    if phi == "PReLU":
        return prelu(x, _SLOPE)
    return relu(x) if phi == "ReLU" else softplus(x)


def _module(phi: str, x: Tensor, arithmetic: Arithmetic) -> Tensor:
    if phi == "PReLU":
        return F.prelu(x, arithmetic.tensor([_SLOPE]))
    return F.relu(x) if phi == "ReLU" else F.softplus(x)


CLAIM = Claim(st.tuples(st.sampled_from(("ReLU", "SoftPlus", "PReLU")), mlps()), judge)
