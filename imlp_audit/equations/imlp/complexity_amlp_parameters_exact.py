"""The AMLP has C' (C - 7) / 2 parameters less than the MLP: fewer exactly where C > 7.

For every width C and even C', with biases. Half of the first FC layer is saved, C C'/2 weights and C'/2 biases; four
coefficients for each channel of two AGeLUs of C'/2 channels are added, 4 C' of them.

Place: Sec. 4.1, the sentence after Eq. 5
Corrected: (parameters of the MLP) - (parameters of the AMLP) = C C'/2 + C'/2 - 4 C' = C' (C - 7) / 2
Bound: none: parameters are counted
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._blocks import Size, amlp, mlp, sizes
from imlp_audit.measure.parameters import count_parameters


def judge(case: Size, _: Arithmetic) -> Trial:
    """Hold the parameters of both modules against the formula."""
    c, hidden = case.width, case.hidden
    ours, theirs = count_parameters(amlp(c, hidden)), count_parameters(mlp(c, hidden))
    shown = {"C": c, "C'": hidden, "AMLP": ours, "MLP": theirs}
    return Trial(2 * (theirs - ours) == hidden * (c - 7), shown)


CLAIM = Claim(sizes(), judge)
