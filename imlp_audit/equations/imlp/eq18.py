"""For inputs in R^n_0, h changes by at most sqrt(rho_2) times as much as its input.

Place: Appendix A.1, Eq. 18
Corrected: ||h(x) - h(y)||_2 <= sqrt(rho_2) ||x - y||_2 for all x, y in R^n_0
Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, at_most
from imlp_audit.equations.imlp._theorem import Module, modules, norm


def judge(case: Module, arithmetic: Arithmetic) -> Trial:
    """Judge the inequality with a proven rho."""
    root = arithmetic.number(case.certificates[1].rho).square_root()
    change = norm(case.change_in(1, arithmetic))
    return at_most(change, root * norm(case.change_of_input(arithmetic)), **case.shown())


CLAIM = Claim(modules(), judge)
