"""A Toeplitz W that goes around, w_{k-S} = w_k, makes s(Z) move with any Z whose tokens go around, no zeros needed.

Place: Sec. 3.3, paragraph that introduces tMLP
Corrected: s(T Z) = T s(Z) for a circular shift T of the tokens, W_{ij} = w_{i-j}, w_{k-S} = w_k, b_i = b
Bound: gamma_{S+2} times the sum of the magnitudes
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._toeplitz import Words, units


def judge(case: Words, arithmetic: Arithmetic) -> Trial:
    """Hold the unit's output for rotated tokens against its rotated output."""
    moved = case.moved_to((case.z[-1], *case.z[:-1]))
    s = case.printed(arithmetic)
    return equal(moved.s(arithmetic), [s[-1], *s[:-1]], **case.shown(), **{"Z shifted": moved.z})


def _around(words: Words) -> Words:
    """Take w_0, ..., w_{S-1} for the negative indices too."""
    from_zero = words.w[len(words.z) - 1 :]
    return replace(words, w=from_zero[1:] + from_zero)


CLAIM = Claim(st.integers(1, 3).flatmap(units).map(_around), judge)
