"""The three terms are the square of the sum of the roots.

Place: Appendix A.1, Eq. 19
Printed: rho_1 ||x - y||^2 + rho_2 ||x - y||^2 + 2 sqrt(rho_1 rho_2) ||x - y||^2
    = (sqrt(rho_1) + sqrt(rho_2))^2 ||x - y||^2
Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.imlp._theorem import Module, inner, modules


def judge(case: Module, arithmetic: Arithmetic) -> Trial:
    """Judge this line of Eq. 19."""
    first, second = (arithmetic.number(certificate.rho) for certificate in case.certificates)
    inputs = case.change_of_input(arithmetic)
    square = inner(inputs, inputs)
    root = first.square_root() + second.square_root()
    left = first * square + second * square + 2 * ((first * second).square_root() * square)
    return equal(left, root * root * square, **case.shown())


CLAIM = Claim(modules(), judge)
