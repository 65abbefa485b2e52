"""For a rho with M(rho, T) <= 0, the form of diag(rho I, -W^11' W^11) in the differences is never negative.

Place: Appendix A.1, Eq. 15
Printed: 0 <= [x - y; x^1 - y^1]' [[rho_1 I, 0], [0, -W^11' W^11]] [x - y; x^1 - y^1]
Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, at_most
from imlp_audit.equations.imlp._theorem import Module, form, modules


def judge(case: Module, arithmetic: Arithmetic) -> Trial:
    """Judge both halves."""
    trials = [_half(case, i, arithmetic) for i in (0, 1)]
    return next((trial for trial in trials if not trial.holds), trials[0])


def _half(case: Module, i: int, arithmetic: Arithmetic) -> Trial:
    found = form(case.blocks_of_15(i, arithmetic), case.changes(i, arithmetic))
    return at_most(arithmetic.number(0), found, **case.shown())


CLAIM = Claim(modules(), judge)
