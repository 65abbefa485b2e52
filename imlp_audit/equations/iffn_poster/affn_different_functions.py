"""Each output of the AFFN is the linear combination of C' different nonlinear functions of x_c.

Read as: the functions GeLU(m'_{cj} x_c + n'_{cj}) that the weights combine, with different parameters of the two
AGeLUs: beta' is not beta here.

Place: "Channel-wise Enhancement Part", last paragraph
Printed: Each element y'_c in y' can also be treated as a linear combination of C' different nonlinear functions to the
    input element x_c with distinct scales and biases
Nearest: affn_different_functions_corrected
Bound: a minor of the functions' values that is larger than its own bound proves independence; multiples prove
    dependence
"""

from __future__ import annotations

from imlp_audit.equations.imlp import eq6_same_degree

CLAIM = eq6_same_degree.CLAIM
