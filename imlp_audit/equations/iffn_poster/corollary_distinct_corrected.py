"""Different input elements have scales that are different weights, and biases that differ where their terms do.

Place: "FFN Module is a Non-linearity Generator", corollary, second sentence
Corrected: m_{cj} = w^a_{cj}; n_{cj} - n_{c'j} = w^a_{c'j} x_{c'} - w^a_{cj} x_c, so that n_{cj} != n_{c'j} if and
    only if w^a_{cj} x_c != w^a_{c'j} x_{c'}
Bound: none: the numbers are exact
"""

from __future__ import annotations

from imlp_audit.equations.imlp import corollary1_distinct_corrected

CLAIM = corollary1_distinct_corrected.CLAIM
