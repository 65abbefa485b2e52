"""A DW block in an IMLP lets each output depend on every position of the grid.

Read as: information is global where it comes from all positions. Kernels are those of Table 5 but n = 1.

Place: Sec. 4.3, the sentence after Eq. 10, and Sec. 5.2 on Table 5
Printed: DW Conv after the non-linear function utilizes the spatial information and enhances non-linearity by learning
    global information from its neighbors
Nearest: depthwise_global_corrected
Bound: none: a derivative that is exactly zero is told from one that is not
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._window import Window, windows


def judge(case: Window, arithmetic: Arithmetic) -> Trial:
    """Hold what an output depends on against the whole grid."""
    return case.hold_against(lambda place: True, arithmetic)


CLAIM = Claim(windows(blocks=1), judge)
