"""With the split unit too, U is C x D_C and V is D_C x C.

Read as: the product s(Z) V exists, so V has as many rows as s(Z) = Z_1 * f(Z_2) has columns.

Place: Sec. 3.1, shapes after the block's equations, for the s(Z) of the split that the text goes on with
Printed: Z = GELU(X U), [...] Y = s(Z) V + X, [...] U in R^{C x D_C}, V in R^{D_C x C} [...] s(Z) = Z_1 * f(Z_2)
Nearest: gmlp_split_shapes_corrected
Bound: none: numbers of rows and columns
"""

from __future__ import annotations

import torch

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._shapes import Sizes, sizes
from imlp_audit.models.hosts.gmlp import Gate


def judge(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """Hold the columns of the unit's output against the rows of the printed V."""
    gated = case.block(Gate.SPLIT).sgu(torch.empty(case.s, case.d_c, device="meta"))
    columns, rows = gated.shape[-1], case.d_c
    return Trial(columns == rows, {**case.shown(), "columns of s(Z)": columns, "rows of V": rows})


CLAIM = Claim(sizes(), judge)
