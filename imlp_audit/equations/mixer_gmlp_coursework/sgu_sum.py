"""The sum unit adds the spatial projection to its input.

Place: Table 6, second row
Printed: s(Z) = Z + f(Z), f(Z) = W Z + b
Bound: gamma_{S+2} times the sum of the magnitudes
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._gmlp import Gating, elementwise, gatings
from imlp_audit.models.hosts.gmlp import Gate


def judge(case: Gating, arithmetic: Arithmetic) -> Trial:
    """Hold the package's unit against the printed formula."""
    z = arithmetic.matrix(case.z)
    printed = elementwise(lambda a, b: a + b, z, case.f(arithmetic, z))
    return equal(case.s(arithmetic, Gate.SUM), printed, **case.shown())


CLAIM = Claim(gatings(), judge)
