"""The package's AGeLU module is the poster's arbitrary nonlinear function, for every base function of Eq. 3.

Place: "A more Powerful Nonlinear Function", first equation
Printed: phi'(x) = beta phi(alpha x + gamma) + theta
Bound: gamma_2 times the magnitudes under phi, times its largest slope, then gamma_2 times those of the result
"""

from __future__ import annotations

from imlp_audit.equations.imlp import eq3_arbitrary_function

CLAIM = eq3_arbitrary_function.CLAIM
