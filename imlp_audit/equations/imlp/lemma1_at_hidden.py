"""Lemma 1 holds for the differences that the proof puts into it: of the hidden units before and after phi_1
(and phi_2).

Place: Appendix A.1, the display before Eq. 13
Printed: [(W^0 x + b^0) - (W^0 y + b^0); x^1 - y^1]' [[-2 p_1 q_1 T, (p_1 + q_1) T], [(p_1 + q_1) T, -2 T]] [...] >= 0
Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, at_most
from imlp_audit.equations.imlp._theorem import Module, diagonal, difference, form, modules, scaled


def judge(case: Module, arithmetic: Arithmetic) -> Trial:
    """Judge both halves."""
    trials = [_half(case, i, arithmetic) for i in (0, 1)]
    return next((trial for trial in trials if not trial.holds), trials[0])


def _half(case: Module, i: int, arithmetic: Arithmetic) -> Trial:
    half = case.halves[i]
    p, q, t = half.slopes.low, half.slopes.high, diagonal(half.t, arithmetic)
    before = difference(case.hidden(case.x, arithmetic), case.hidden(case.y, arithmetic))
    blocks = [[scaled(-2 * p * q, t), scaled(p + q, t)], [scaled(p + q, t), scaled(-2, t)]]
    found = form(blocks, [*before, *case.change_of_activated(i, arithmetic)])
    return at_most(arithmetic.number(0), found, **case.shown())


CLAIM = Claim(modules(), judge)
