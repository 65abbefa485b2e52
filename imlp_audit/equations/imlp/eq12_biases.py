"""Splitting f into g + h splits b^1 into the two blocks [b^11 b^12], one added in each branch. Every branch has as many
outputs as f, so each block has as many entries as b^1 itself.

Place: Appendix A.1, Eq. 12
Printed: f(x) = g(x) + h(x) = (W^11 phi_1(W^0 x + b^0) + b^11) + (W^12 phi_2(W^0 x + b^0) + b^12), b^1 = [b^11 b^12]
Nearest: eq12_biases_corrected
Bound: none: entries are counted
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._theorem import Module, modules


def judge(case: Module, arithmetic: Arithmetic) -> Trial:
    """Compare how many entries the bias of f has with how many its two blocks have."""
    outputs = len(case.part(0, case.x, arithmetic))
    blocks = sum(len(half.b1) for half in case.halves)
    shown = {"outputs of f": outputs, "entries of b^1": outputs, "entries of [b^11 b^12]": blocks}
    return Trial(blocks == outputs, shown)


CLAIM = Claim(modules(), judge)
