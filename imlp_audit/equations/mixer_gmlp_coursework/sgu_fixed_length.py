"""W is made for one sequence length: a unit made for S tokens refuses a sequence of another length.

Place: Sec. 3.1, sentence after the unit's equations
Printed: W in R^{S x S}, S is the length of the sequence
Bound: none: the module refuses or it does not
"""

from __future__ import annotations

import torch
from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.models.gmlp import Gate, SpatialGatingUnit


def judge(case: tuple[int, int, Gate], arithmetic: Arithmetic) -> Trial:
    """Give a unit made for S tokens another number of them."""
    made_for, given, gate = case
    with torch.device("meta"):
        unit, z = SpatialGatingUnit(2, made_for, gate), torch.empty(given, 2)
    accepted = _accepts(unit, z)
    return Trial(accepted == (made_for == given), {"S": made_for, "tokens given": given, "accepted": accepted})


def _accepts(unit: torch.nn.Module, z: torch.Tensor) -> bool:
    try:
        unit(z)
    except RuntimeError:  # what torch raises where shapes do not fit
        return False
    return True


CLAIM = Claim(st.tuples(st.integers(1, 4), st.integers(1, 4), st.sampled_from(Gate)), judge)
