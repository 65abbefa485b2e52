"""With a Toeplitz W, the sum of s(Z) over the tokens is invariant to shifts of words, for a unit that multiplies.

Exactly so where there are zeros around the words, none of them falls out, and b is the same for all tokens.

Place: Sec. 3.3, paragraph that introduces tMLP
Corrected: sum_i s(T Z)_{ic} = sum_i s(Z)_{ic} for a shift T of the tokens, W_{ij} = w_{i-j}, b_i = b, and Z zero where
    T moves tokens out
Bound: gamma_{2S+1} times the sum of the magnitudes
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._toeplitz import Shift, shifted, shifts_inside
from imlp_audit.equations.rounded import total


def judge(case: Shift, arithmetic: Arithmetic) -> Trial:
    """Hold the sum of the unit's output for moved words against that for the words."""
    words = case.words
    moved = words.moved_to(shifted(words.z, case.by))
    pooled = [total(column) for column in zip(*words.printed(arithmetic), strict=True)]
    return equal(moved.s(arithmetic).sum(dim=0), pooled, **words.shown(), **{"Z shifted": moved.z})


CLAIM = Claim(shifts_inside(), judge)
