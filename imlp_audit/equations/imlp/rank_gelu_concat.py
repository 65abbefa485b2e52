"""concat(GeLU, GeLU) replicates: the second half of the hidden units is the first, so C' units have the degree C'/2.

Read as: as functions of x_1, at most C'/2 of them are linearly independent, and C'/2 are where no two arguments of GeLU
are equal or opposite.

Place: Sec. 5.2 on Table 3
Printed: the two GeLU functions with the same scale and bias cause a simple replication along the channel dimension
Bound: none for the replication, bit for bit; a minor of the functions' values that is larger than its own bound proves
    independence
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._agelu import start
from imlp_audit.equations.imlp._amlp import Amlp
from imlp_audit.equations.imlp._ranks import first_layer, replicated, sampled_equal
from imlp_audit.equations.imlp._units import apart, independent
from imlp_audit.equations.strategies import matrices, nonzero, vectors


def judge(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """Hold the halves against each other, and count the independent functions of the first."""
    hidden, units = case.t2_of(first_layer(case, arithmetic), arithmetic), case.units()
    sampled = sampled_equal(hidden, units, arithmetic, **case.shown())
    if not sampled.holds:
        return sampled
    halved = replicated(hidden) and independent(units[: len(units) // 2])
    return Trial(halved, {**case.shown(), "second half is the first": replicated(hidden)})


def _amlps(width: int, half: int) -> st.SearchStrategy[Amlp]:
    """AMLPs whose AGeLUs are GeLU, of which no two hidden units of one GeLU are equal or opposite."""
    same, second = st.just(start(half)), st.just(((1.0,) * width,) * (2 * half))
    wd = matrices(width, half, nonzero())
    return st.builds(Amlp, vectors(width), wd, same, same, second).filter(lambda case: apart(case.units()[:half]))


CLAIM = Claim(st.tuples(st.integers(1, 2), st.integers(1, 3)).flatmap(lambda size: _amlps(*size)), judge)
