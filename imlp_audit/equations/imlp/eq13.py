"""Written in x - y, with W^0 moved into the matrix, the same form is never negative.

Place: Appendix A.1, Eq. 13
Printed: [x - y; x^1 - y^1]' [[-2 p_1 q_1 W^0' T W^0, (p_1 + q_1) W^0' T], [(p_1 + q_1) T W^0, -2 T]] [x - y; x^1 -
    y^1] >= 0
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
    found = form(case.blocks_of_13(i, arithmetic), case.changes(i, arithmetic))
    return at_most(arithmetic.number(0), found, **case.shown())


CLAIM = Claim(modules(), judge)
