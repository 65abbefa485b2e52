"""Multiplied out, the change of W^11 x^1 is at most rho_1 times that of x, in squared norms.

Place: Appendix A.1, Eq. 16
Printed: (x^1 - y^1)' W^11' W^11 (x^1 - y^1) <= rho_1 (x - y)' (x - y)
Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, at_most
from imlp_audit.equations.imlp._theorem import Module, inner, modules


def judge(case: Module, arithmetic: Arithmetic) -> Trial:
    """Judge both halves."""
    trials = [_half(case, i, arithmetic) for i in (0, 1)]
    return next((trial for trial in trials if not trial.holds), trials[0])


def _half(case: Module, i: int, arithmetic: Arithmetic) -> Trial:
    w1, rho = arithmetic.matrix(case.halves[i].w1), case.certificates[i].rho
    weighted = [inner(row, case.change_of_activated(i, arithmetic)) for row in w1]
    inputs = case.change_of_input(arithmetic)
    return at_most(inner(weighted, weighted), rho * inner(inputs, inputs), **case.shown())


CLAIM = Claim(modules(), judge)
