"""Distinct scales and biases are applied to different input elements.

Read as: m_{cj} != m_{c'j} and n_{cj} != n_{c'j} for c != c'. Tested where the weights of a hidden unit are
distinct and not zero, and so are the inputs.

Place: "FFN Module is a Non-linearity Generator", corollary, second sentence
Printed: Distinct scales and biases are applied to different input elements x_c before passing through the nonlinear
    function phi
Nearest: corollary_distinct_corrected
Bound: none: the numbers are exact
"""

from __future__ import annotations

from imlp_audit.equations.imlp import corollary1_distinct

CLAIM = corollary1_distinct.CLAIM
