"""L IMLPs one after the other let each output depend on a window of 1 + L (n - 1) rows and columns.

Place: Sec. 4.3, the sentence after Eq. 10
Corrected: output (h, w) depends on input (i, j) exactly where max(|i - h|, |j - w|) <= L (n - 1) / 2
Bound: none: a derivative that is exactly zero is told from one that is not
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._window import Window, windows


def judge(case: Window, arithmetic: Arithmetic) -> Trial:
    """Hold what an output depends on against the window of the stack."""
    return case.hold_against(lambda place: case.distance(place) <= case.blocks * (case.n - 1) // 2, arithmetic)


CLAIM = Claim(windows(blocks=3), judge)
