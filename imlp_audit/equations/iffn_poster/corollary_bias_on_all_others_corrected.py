"""The bias of x_c in the FFN depends on just those other input elements whose weight is not zero.

Place: "FFN Module is a Non-linearity Generator", corollary, third sentence
Corrected: n_{cj} depends on x_i if and only if i != c and w^a_{ij} != 0
Bound: none: a derivative that is exactly zero is told from one that is not
"""

from __future__ import annotations

from imlp_audit.equations.imlp import corollary1_bias_on_all_others_corrected

CLAIM = corollary1_bias_on_all_others_corrected.CLAIM
