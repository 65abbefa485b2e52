"""A DW block in an IMLP lets each output depend on the n x n window around it, and on nothing beyond.

Place: Sec. 4.3, the sentence after Eq. 10
Corrected: output (h, w) depends on input (i, j) exactly where |i - h| <= (n - 1) / 2 and |j - w| <= (n - 1) / 2
Bound: none: a derivative that is exactly zero is told from one that is not
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._window import Window, windows


def judge(case: Window, arithmetic: Arithmetic) -> Trial:
    """Hold what an output depends on against the window."""
    return case.hold_against(lambda place: case.distance(place) <= (case.n - 1) // 2, arithmetic)


CLAIM = Claim(windows(blocks=1), judge)
