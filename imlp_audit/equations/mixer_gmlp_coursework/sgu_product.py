"""The product unit multiplies its input by its spatial projection, element by element.

Place: Sec. 3.1, second equation of the spatial gating unit; Table 6, third row
Printed: s(Z) = Z * f(Z), f(Z) = W Z + b
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
    printed = elementwise(lambda a, b: a * b, z, case.f(arithmetic, z))
    return equal(case.s(arithmetic, Gate.PRODUCT), printed, **case.shown())


CLAIM = Claim(gatings(), judge)
