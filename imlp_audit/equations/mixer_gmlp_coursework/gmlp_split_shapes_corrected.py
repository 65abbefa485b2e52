"""With the split unit, U is C x D_C and V is D_C/2 x C, and the block keeps the shape of X.

Place: Sec. 3.1, shapes after the block's equations, for the s(Z) of the split
Corrected: Z = GELU(X U), Y = s(Z) V + X, U in R^{C x D_C}, V in R^{D_C/2 x C}, s(Z) = Z_1 * f(Z_2)
Bound: none: numbers of rows and columns
"""

from __future__ import annotations

import torch

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._shapes import Sizes, sizes
from imlp_audit.models.hosts.gmlp import Gate


def judge(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """Hold the shapes of the package's block against the corrected ones."""
    block = case.block(Gate.SPLIT)
    output = block(torch.empty(1, case.s, case.c, device="meta"))
    u, v = block.u.weight.T, block.v.weight.T
    holds = u.shape == (case.c, case.d_c) and v.shape == (case.d_c // 2, case.c)
    shown = {**case.shown(), "shape of U": tuple(u.shape), "shape of V": tuple(v.shape)}
    return Trial(holds and output.shape == (1, case.s, case.c), shown)


CLAIM = Claim(sizes(), judge)
