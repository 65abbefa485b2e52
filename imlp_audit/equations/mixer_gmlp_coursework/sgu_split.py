"""The split unit multiplies one half of its channels by the spatial projection of the other half.

Place: Sec. 3.1, equation after the split; Table 6, fourth row
Printed: s(Z) = Z_1 * f(Z_2), Z = (Z_1, Z_2) split by channels, f(Z) = W Z + b
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
    half = len(z[0]) // 2
    z1, z2 = [row[:half] for row in z], [row[half:] for row in z]
    printed = elementwise(lambda a, b: a * b, z1, case.f(arithmetic, z2))
    return equal(case.s(arithmetic, Gate.SPLIT), printed, **case.shown())


CLAIM = Claim(gatings(channels=(2, 4)), judge)
