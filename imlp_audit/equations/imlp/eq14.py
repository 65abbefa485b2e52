"""For a rho and a T with M(rho, T) <= 0, the form of Eq. 13 is at most that of diag(rho I, -W^11' W^11).

Place: Appendix A.1, Eq. 14
Printed: [x - y; x^1 - y^1]' [[-2 p_1 q_1 W^0' T W^0, (p_1 + q_1) W^0' T], [(p_1 + q_1) T W^0, -2 T]] [...] <=
    [x - y; x^1 - y^1]' [[rho_1 I, 0], [0, -W^11' W^11]] [...]
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
    changes = case.changes(i, arithmetic)
    left = form(case.blocks_of_13(i, arithmetic, case.certificates[i].t.tolist()), changes)
    return at_most(left, form(case.blocks_of_15(i, arithmetic), changes), **case.shown())


CLAIM = Claim(modules(), judge)
