"""No narrower interval than [p, q] holds the slopes of AGeLU with the tanh form of GeLU: chords about
alpha x + gamma = -x* and x* leave it at both ends, x* = 1.41850.

Place: Sec. 4.2, after Lemma 1
Printed: It is easy to prove that our proposed AGeLU activation function satisfies the slope-restricted condition
    when the parameters alpha and beta in Eq. 4 are finite
Bound: gamma of the steps of both values times their magnitudes, over the length of the chord
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.functions import gelu_tanh
from imlp_audit.equations.imlp._slope import Narrower, narrower
from imlp_audit.lipschitz import slopes


def judge(case: Narrower, arithmetic: Arithmetic) -> Trial:
    """Judge that chords leave the narrower interval at both ends."""
    return case.trial(gelu_tanh, slopes.GELU_TANH, slopes.GELU_TANH_STEEPEST, arithmetic)


CLAIM = Claim(narrower(), judge)
