"""The package's AGeLU module is the poster's AGeLU, channel by channel.

Place: "A more Powerful Nonlinear Function", second equation
Printed: AGeLU(x) = beta GeLU(alpha x + gamma) + theta
Bound: gamma_2 times the magnitudes under GeLU, times its largest slope, then gamma_2 times those of the result
"""

from __future__ import annotations

from imlp_audit.equations.imlp import eq4_agelu

CLAIM = eq4_agelu.CLAIM
