"""APReLU, the arbitrary function with PReLU, is more flexible than RPReLU: each RPReLU is one, and so is each AReLU.

Place: "A more Powerful Nonlinear Function", last sentence
Corrected: RPReLU(x; b, gamma, zeta) = beta PReLU(alpha x + c; b) + theta with alpha = beta = 1, c = -gamma,
    theta = zeta; AReLU(x) = APReLU(x) with b = 0
Bound: gamma_3 times the sum of the terms' magnitudes
"""

from __future__ import annotations

from imlp_audit.equations.imlp import agelu_more_flexible_corrected

CLAIM = agelu_more_flexible_corrected.CLAIM
