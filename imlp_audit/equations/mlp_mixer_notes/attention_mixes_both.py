"""Self-attention mixes features both at a location and between locations.

Read as: it can do both in one layer. Queries of 0 show it: every token gets the mean of the projected values of all
tokens.

Place: list on Vision Transformers, first item
Printed: self-attention layers allow both (i) and (ii)
Bound: none: the derivatives are sums of products of positive weights
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._mixing import BOTH, Averaging, averagings, mixes


def judge(case: Averaging, arithmetic: Arithmetic) -> Trial:
    """Look at what attention links."""
    found = mixes(case.attention(arithmetic), arithmetic.tensor(case.table))
    shown = {"X": case.table, "value weights": case.values, "output weights": case.projection}
    return Trial(found == BOTH, {**shown, "mixes": found})


CLAIM = Claim(averagings(), judge)
