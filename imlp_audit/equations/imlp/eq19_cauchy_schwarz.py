"""The inner product of the changes of g and h is at most the product of their norms.

Place: Appendix A.1, Eq. 19
Printed: ... + 2 (g(x) - g(y))' (h(x) - h(y)) <= ... + 2 ||g(x) - g(y)||_2 ||h(x) - h(y)||_2
Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, at_most
from imlp_audit.equations.imlp._theorem import Module, inner, modules, norm


def judge(case: Module, arithmetic: Arithmetic) -> Trial:
    """Judge this line of Eq. 19."""
    g, h = (case.change_in(i, arithmetic) for i in (0, 1))
    left = inner(g, g) + inner(h, h) + 2 * inner(g, h)
    return at_most(left, inner(g, g) + inner(h, h) + 2 * (norm(g) * norm(h)), **case.shown())


CLAIM = Claim(modules(), judge)
