"""Each row of the FFN's output is the FFN of the same row of its input, so one row says it all (N = 1).

Place: "FFN Module is a Non-linearity Generator", first equation, and "assume N = 1 without loss of generality"
Printed: Y = FFN(X) = phi(X W^a) W^b; row n of Y is phi(x W^a) W^b of row n of X
Bound: gamma_C times the magnitudes under phi, times its largest slope, then gamma_{C'+1} times those of the sum
"""

from __future__ import annotations

from imlp_audit.equations.imlp import eq1_rows_independent

CLAIM = eq1_rows_independent.CLAIM
