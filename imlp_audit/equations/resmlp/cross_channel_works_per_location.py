"""The cross-channel feedforward sublayer works per location: no patch's output has a derivative by another patch.

Place: Sec. 2, after Eq. 3
Printed: the "cross-channel" feedforward sublayer works per location
Bound: none: a derivative is exactly zero or it is not
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.dependence import depends
from imlp_audit.equations.resmlp._layer import FeedForwardCase, batch_of, feedforwards


def judge(case: FeedForwardCase, arithmetic: Arithmetic) -> Trial:
    """Look for derivatives between two patches."""
    sublayer = case.module(arithmetic).cross_channel
    found = depends(sublayer, batch_of(case.z, arithmetic))[0, :, :, 0].any(dim=3).any(dim=1)
    patches = range(len(found))
    leaks = [[n + 1, m + 1] for n in patches for m in patches if n != m and found[n, m]]
    return Trial(not leaks, {**case.shown(), "patches that depend on others": leaks})


CLAIM = Claim(feedforwards(patches=(4,)), judge)
