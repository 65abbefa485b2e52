"""With Eq. 17 and 18 the sum is at most rho_1 + rho_2 + 2 sqrt(rho_1 rho_2) times the squared change of the input.

Place: Appendix A.1, Eq. 19
Printed: ||g(x) - g(y)||^2 + ||h(x) - h(y)||^2 + 2 ||g(x) - g(y)|| ||h(x) - h(y)|| <= rho_1 ||x - y||^2 +
    rho_2 ||x - y||^2 + 2 sqrt(rho_1 rho_2) ||x - y||^2
Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, at_most
from imlp_audit.equations.imlp._theorem import Module, inner, modules, norm


def judge(case: Module, arithmetic: Arithmetic) -> Trial:
    """Judge this line of Eq. 19."""
    g, h = (case.change_in(i, arithmetic) for i in (0, 1))
    first, second = (arithmetic.number(certificate.rho) for certificate in case.certificates)
    inputs = case.change_of_input(arithmetic)
    square = inner(inputs, inputs)
    right = first * square + second * square + 2 * ((first * second).square_root() * square)
    return at_most(inner(g, g) + inner(h, h) + 2 * (norm(g) * norm(h)), right, **case.shown())


CLAIM = Claim(modules(), judge)
