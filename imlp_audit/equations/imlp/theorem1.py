"""Whatever rho_1, rho_2 and T make both matrix inequalities true, f changes by at most sqrt(rho_1) + sqrt(rho_2) times
as much as its input: the theorem, and Eq. 20. The pairs are found for random T, and proven by a Cholesky factorisation
with a margin for rounding, not taken from a solver.

Place: Sec. 4.2, Theorem 1 and Eq. 9; Appendix A.1, Eq. 20
Printed: M(rho_i, T) <= 0, i in {1, 2}, then ||f(x) - f(y)||_2 <= (sqrt(rho_1) + sqrt(rho_2)) ||x - y||_2 for all
    x, y in R^n_0
Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, at_most
from imlp_audit.equations.imlp._theorem import Module, modules, norm


def judge(case: Module, arithmetic: Arithmetic) -> Trial:
    """Judge the inequality with proven rhos."""
    g, h = (case.change_in(i, arithmetic) for i in (0, 1))
    first, second = (arithmetic.number(certificate.rho).square_root() for certificate in case.certificates)
    change = norm([g_i + h_i for g_i, h_i in zip(g, h, strict=True)])
    return at_most(change, (first + second) * norm(case.change_of_input(arithmetic)), **case.shown())


CLAIM = Claim(modules(), judge)
