"""The C' functions of x_c are independent where no two arguments of GeLU are equal or opposite, and none is constant.

Place: "Channel-wise Enhancement Part", last paragraph
Corrected: beta_j GeLU(m'_{cj} x_c + n'_{cj}) + theta_j, j = 1, ..., C', are linearly independent functions of x_c if
    beta_j != 0, m'_{cj} != 0 and (m'_{cj}, n'_{cj}) != +-(m'_{ck}, n'_{ck}) for all j != k
Bound: a minor of the functions' values that is larger than its own bound proves independence
"""

from __future__ import annotations

from imlp_audit.equations.imlp import rank_agelu_concat_corrected

CLAIM = rank_agelu_concat_corrected.CLAIM
