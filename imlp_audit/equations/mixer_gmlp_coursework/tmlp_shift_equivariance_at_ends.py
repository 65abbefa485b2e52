"""A Toeplitz W makes s(Z) move with the words of Z, whatever words fall out at the end of the text.

Read as: s(T Z) = T s(Z) for a shift T by one token, any Z without zeros, one b for all tokens; T leaves zeros in front.

Place: Sec. 3.3, paragraph that introduces tMLP
Printed: Это позволяет быть модели инвариантной к сдвигам слов.
Nearest: tmlp_shift_equivariance
Bound: gamma_{S+2} times the sum of the magnitudes
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._toeplitz import Words, shifted, units
from imlp_audit.equations.strategies import nonzero


def judge(case: Words, arithmetic: Arithmetic) -> Trial:
    """Hold the unit's output for moved words against its moved output for the words."""
    moved = case.moved_to(shifted(case.z, 1))
    s = case.printed(arithmetic)
    nothing = [[arithmetic.number(0)] * len(s[0])]
    return equal(moved.s(arithmetic), nothing + s[:-1], **case.shown(), **{"Z shifted": moved.z})


CLAIM = Claim(st.integers(2, 3).flatmap(lambda tokens: units(tokens, nonzero())), judge)
