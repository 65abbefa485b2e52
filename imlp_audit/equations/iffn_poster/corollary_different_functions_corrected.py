"""The C' functions of x_c are different and nonlinear where no scale is zero and no two units share scale and bias.

Place: "FFN Module is a Non-linearity Generator", corollary, first sentence
Corrected: phi(m_{cj} x_c + n_{cj}), j = 1, ..., C', are C' different nonlinear functions of x_c if m_{cj} != 0 and
    (m_{cj}, n_{cj}) != (m_{ck}, n_{ck}) for all j != k
Bound: two functions are different where their values differ by more than the bounds of both; those of GeLU and of its
    argument, exact here
"""

from __future__ import annotations

from imlp_audit.equations.imlp import corollary1_different_functions_corrected

CLAIM = corollary1_different_functions_corrected.CLAIM
