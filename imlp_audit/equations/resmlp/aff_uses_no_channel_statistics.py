"""As a pre-normalization Aff uses no channel-wise statistics: no channel's output has a derivative by another channel.

Place: Sec. 2, after Eq. 1
Printed: As a pre-normalization, Aff replaces LayerNorm without using channel-wise statistics
Bound: none: a derivative is exactly zero or it is not
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.dependence import depends
from imlp_audit.equations.resmlp._layer import AffCase, affs, each_of
from imlp_audit.equations.strategies import Vector, vectors


def judge(case: tuple[AffCase, Vector], arithmetic: Arithmetic) -> Trial:
    """Look for derivatives of one channel by another."""
    aff, x = case
    found = depends(aff.module(arithmetic), arithmetic.tensor(x))
    leaks = [[i + 1, j + 1] for i in range(len(x)) for j in range(len(x)) if i != j and found[i, j]]
    return Trial(not leaks, {"alpha": aff.alpha, "beta": aff.beta, "x": x, "channels that depend on others": leaks})


CLAIM = Claim(each_of(lambda d: st.tuples(affs(d), vectors(d)), (2, 3)), judge)
