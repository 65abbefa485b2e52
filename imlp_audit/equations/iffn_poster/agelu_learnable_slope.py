"""AGeLU's slope is learnable at one end, alpha beta, and 0 at the other; alpha's sign says which end is which.

Read as: the slopes that AGeLU tends to for x to plus and minus infinity.

Place: "A more Powerful Nonlinear Function", last sentence
Printed: having learnable slope
Bound: gamma_2 of the slope, whose own evaluation errs by 12 u; from 40 on, GeLU's slope is within 1e-300 of 1 or 0
"""

from __future__ import annotations

from imlp_audit.equations.imlp import agelu_learnable_slope

CLAIM = agelu_learnable_slope.CLAIM
