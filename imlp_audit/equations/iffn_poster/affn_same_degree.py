"""The AFFN can generate the degree of non-linearity that the FFN has, C'.

Read as: with suitable coefficients. They are those with which no two arguments of GeLU are equal or opposite, and none
is constant: then the C' hidden units are linearly independent as functions of x_1.

Place: "Channel-wise Enhancement Part", last paragraph
Printed: Compared to FFN module, AFFN module can generate the same degree of non-linearity
Bound: a minor of the functions' values that is larger than its own bound proves independence
"""

from __future__ import annotations

from imlp_audit.equations.imlp import rank_agelu_concat_corrected

CLAIM = rank_agelu_concat_corrected.CLAIM
