"""A Toeplitz W makes a unit that multiplies equivariant to shifts of words towards the end: s(Z) moves with the words.

Exactly so where there are zeros after the words, so that none of them falls out, and b is the same for all tokens. (The
linear unit of Table 6 is not: its bias does not move.)

Place: Sec. 3.3, paragraph that introduces tMLP
Corrected: s(T Z) = T s(Z) for s(Z) = Z * f(Z) or Z_1 * f(Z_2), a shift T of the tokens, W_{ij} = w_{i-j}, b_i = b, and
    Z zero where T moves tokens out
Bound: gamma_{S+2} times the sum of the magnitudes
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._toeplitz import Shift, shifted, shifts_inside


def judge(case: Shift, arithmetic: Arithmetic) -> Trial:
    """Hold the unit's output for moved words against its moved output for the words."""
    words = case.words
    moved = words.moved_to(shifted(words.z, case.by))
    s = words.printed(arithmetic)
    nothing = [[arithmetic.number(0)] * len(s[0])] * case.by
    return equal(moved.s(arithmetic), (nothing + s)[: len(s)], **words.shown(), **{"Z shifted": moved.z})


CLAIM = Claim(shifts_inside(), judge)
