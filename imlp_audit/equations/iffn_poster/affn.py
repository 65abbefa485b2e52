"""The package's IMLP block, with its channel part alone, is the poster's AFFN.

Two AGeLUs of X W^d are concatenated, and multiplied by W^e.

Place: "Channel-wise Enhancement Part", first equation
Printed: Y' = AFFN(X) = concat(AGeLU(X W^d), AGeLU'(X W^d)) W^e
Bound: gamma_{C+1} times the magnitudes under GeLU, times its largest slope, then gamma_{C'+3} times those of the sum
"""

from __future__ import annotations

from imlp_audit.equations.imlp import eq5_amlp

CLAIM = eq5_amlp.CLAIM
