"""The bias of x_c in the FFN depends on all other input elements, and not on x_c.

Tested where no weight is zero.

Place: "FFN Module is a Non-linearity Generator", corollary, third sentence
Printed: the bias is dependent to all other input elements in x
Bound: none: a derivative that is exactly zero is told from one that is not
"""

from __future__ import annotations

from imlp_audit.equations.imlp import corollary1_bias_on_all_others

CLAIM = corollary1_bias_on_all_others.CLAIM
