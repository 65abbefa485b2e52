"""The AMLP does N C C'/2 multiply-accumulates less than the MLP, a quarter of its 2 N C C'.

For every number N of tokens, width C and even C'. The first FC layer has C'/2 outputs; the second still reads C'.

Place: Sec. 4.1, the sentence after Eq. 5
Printed: the first FC layer has half the output channels compared to the original MLP module, and can effectively
    reduce the FLOPs
Bound: none: multiply-accumulates are counted
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._blocks import Size, amlp, mlp, multiply_accumulates, sizes


def judge(case: Size, _: Arithmetic) -> Trial:
    """Hold what the ledgers of both modules tell against the halved layer."""
    n, c, hidden = case.tokens, case.width, case.hidden
    ours = multiply_accumulates(amlp(c, hidden), 1, n, c)
    theirs = multiply_accumulates(mlp(c, hidden), 1, n, c)
    shown = {**case.shown(), "AMLP": ours, "MLP": theirs}
    return Trial((theirs - ours, 4 * (theirs - ours)) == (n * c * hidden // 2, theirs), shown)


CLAIM = Claim(sizes(), judge)
