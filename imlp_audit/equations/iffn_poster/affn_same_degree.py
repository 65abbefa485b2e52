"""Two AGeLUs with different parameters give each output C' different nonlinear functions: the degree of the FFN.

Read as: the C' hidden units are linearly independent as functions of x_1. Tested where beta' is not beta, so that the
parameters are different, as the poster has them.

Place: "Channel-wise Enhancement Part", last paragraph
Printed: Compared to FFN module, AFFN module can generate the same degree of non-linearity. Each element y'_c in y' can
    also be treated as a linear combination of C' different nonlinear functions to the input element x_c
Nearest: affn_same_degree_corrected
Bound: a minor of the functions' values that is larger than its own bound proves independence; multiples prove
    dependence
"""

from __future__ import annotations

from imlp_audit.equations.imlp import eq6_same_degree

CLAIM = eq6_same_degree.CLAIM
