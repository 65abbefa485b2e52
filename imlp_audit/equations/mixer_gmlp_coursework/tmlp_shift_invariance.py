"""A Toeplitz W makes the unit invariant to shifts of words: s(Z) stays as it is when the words of Z move.

Read as: word for word, invariant, and in the most favourable case: zeros around the words, none of which falls out, and
one b for all tokens.

Place: Sec. 3.3, paragraph that introduces tMLP
Printed: Это позволяет быть модели инвариантной к сдвигам слов.
Nearest: tmlp_shift_equivariance
Bound: gamma_{S+2} times the sum of the magnitudes
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._toeplitz import Shift, shifted, shifts_inside
from imlp_audit.equations.strategies import nonzero


def judge(case: Shift, arithmetic: Arithmetic) -> Trial:
    """Hold the unit's output for moved words against its output for the words."""
    words = case.words
    moved = words.moved_to(shifted(words.z, case.by))
    shown = {**words.shown(), "Z shifted": moved.z}
    return equal(moved.s(arithmetic), words.printed(arithmetic), **shown)


CLAIM = Claim(shifts_inside(nonzero()), judge)
