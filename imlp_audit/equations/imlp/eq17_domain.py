"""The inputs x and y of Eq. 17, 18 and 20 are in R^n, where n is the number of hidden units (x^1 is in R^n).

Place: Appendix A.1, Eq. 17, 18 and 20
Printed: ||g(x) - g(y)||_2 <= sqrt(rho_1) ||x - y||_2 for all x, y in R^n
Nearest: eq17
Bound: none: dimensions are counted
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._theorem import Module, modules


def judge(case: Module, arithmetic: Arithmetic) -> Trial:
    """Compare the dimension of the inputs that W^0 takes with that of x^1."""
    hidden, width = len(case.activated(0, case.x, arithmetic)), len(case.w0[0])
    return Trial(width == hidden, {"W^0": case.w0, "n (of x^1)": hidden, "n_0 (what W^0 takes)": width})


CLAIM = Claim(modules(), judge)
