"""AGeLU with the tanh form of GeLU is slope-restricted on [p, q] = alpha beta [-0.12899, 1.12899], turned round where
alpha beta < 0: no chord of it is flatter than p or steeper than q.

Place: Sec. 4.2, after Lemma 1
Printed: It is easy to prove that our proposed AGeLU activation function satisfies the slope-restricted condition
    when the parameters alpha and beta in Eq. 4 are finite
Bound: gamma of the steps of both values times their magnitudes, the error of phi as functions.py derives it
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.functions import gelu_tanh
from imlp_audit.equations.imlp._slope import Chord, chords
from imlp_audit.lipschitz import slopes


def judge(case: Chord, arithmetic: Arithmetic) -> Trial:
    """Judge p (y - x) <= AGeLU(y) - AGeLU(x) <= q (y - x)."""
    return case.trial(gelu_tanh, slopes.GELU_TANH, arithmetic)


CLAIM = Claim(chords(), judge)
