"""The squared norm of a sum is the sum of the squared norms and twice the inner product.

Place: Appendix A.1, Eq. 19
Printed: ||f(x) - f(y)||^2 = ||g(x) - g(y)||^2 + ||h(x) - h(y)||^2 + 2 (g(x) - g(y))' (h(x) - h(y))
Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.imlp._theorem import Module, inner, modules


def judge(case: Module, arithmetic: Arithmetic) -> Trial:
    """Judge this line of Eq. 19."""
    g, h = (case.change_in(i, arithmetic) for i in (0, 1))
    both = [g_i + h_i for g_i, h_i in zip(g, h, strict=True)]
    return equal(inner(both, both), inner(g, g) + inner(h, h) + 2 * inner(g, h), **case.shown())


CLAIM = Claim(modules(), judge)
