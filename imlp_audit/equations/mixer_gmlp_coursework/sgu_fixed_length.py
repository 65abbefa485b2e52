"""W is made for one sequence length: a unit made for S tokens refuses a sequence of another length.

Place: Sec. 3.1, sentence after the unit's equations
Printed: W in R^{S x S}, S - длина последовательности
Bound: none: the module refuses or it does not
"""

from __future__ import annotations

from hypothesis import strategies as st
from torch import Tensor, nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.models.gmlp import SpatialGatingUnit
from imlp_audit.models.hosts.gmlp import Gate


def judge(case: tuple[int, int, Gate], arithmetic: Arithmetic) -> Trial:
    """Give a unit made for S tokens another number of them."""
    made_for, given, gate = case
    unit = arithmetic.place(SpatialGatingUnit(2, made_for, gate))
    accepted = _accepts(unit, arithmetic.tensor(((0.0, 0.0),) * given))
    return Trial(accepted == (made_for == given), {"S": made_for, "tokens given": given, "accepted": accepted})


def _accepts(unit: nn.Module, z: Tensor) -> bool:
    try:
        unit(z)
    except RuntimeError:  # what torch raises where shapes do not fit
        return False
    return True


CLAIM = Claim(st.tuples(st.integers(1, 4), st.integers(1, 4), st.sampled_from(Gate)), judge)
